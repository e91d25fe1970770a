"""Result directories: complete cells or none, resumed runs, refused strangers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import lasthop
from lasthop.frames import TABLES
from lasthop.store import Store
from support import Command

SHORT = ("duration=3 s", "loss=0.01")


def scenario(dumbbell: Path, **settings: str | float | list[str]) -> lasthop.Scenario:
    return lasthop.Scenario.from_file(dumbbell).override(*SHORT).set(**settings)


def files(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def test_a_directory_holds_what_memory_holds(dumbbell: Path, tmp_path: Path) -> None:
    chosen = scenario(dumbbell, sender=["reno", "sack"])
    kept = lasthop.run(chosen, seeds=2, out=tmp_path / "out")
    memory = lasthop.run(chosen, seeds=2)
    for table in TABLES:
        assert (
            kept.scan(table)
            .collect()
            .sort("variant", "seed")
            .equals(memory.scan(table).collect().sort("variant", "seed"))
        ), table
    assert kept.to_json() == memory.to_json()
    assert lasthop.Result.open(tmp_path / "out").to_json() == kept.to_json()


def test_the_manifest_tells_what_was_run(dumbbell: Path, tmp_path: Path) -> None:
    lasthop.run(scenario(dumbbell, sender="reno"), seeds=[4, 9], out=tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["scenario"] == "dumbbell"
    assert manifest["text"] == dumbbell.read_text()
    assert manifest["seeds"] == [4, 9]
    assert manifest["versions"]["lasthop"] == lasthop.__version__
    assert manifest["variants"][0]["parameters"]["sender"] == "reno"
    assert (tmp_path / "out" / "scenario.toml").read_text() == dumbbell.read_text()


def test_the_scenario_can_be_run_again_from_its_results(dumbbell: Path, tmp_path: Path) -> None:
    first = lasthop.run(scenario(dumbbell, sender="reno"), seeds=2, out=tmp_path / "out")
    again = lasthop.run(Store.open(tmp_path / "out").scenario)
    assert again.to_json() == first.to_json()


def test_a_run_with_more_seeds_adds_only_the_missing_cells(dumbbell: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    lasthop.run(scenario(dumbbell), seeds=2, out=out)
    before = {p: p.stat().st_mtime_ns for p in out.glob("cells/*/*/*.parquet")}
    result = lasthop.run(scenario(dumbbell), seeds=4, out=out)
    assert {p: p.stat().st_mtime_ns for p in before} == before
    assert result.runs["seed"].to_list() == [1, 2, 3, 4]


def test_a_damaged_cell_is_run_again(dumbbell: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    lasthop.run(scenario(dumbbell), seeds=2, out=out)
    whole = files(out)
    victim = next(out.glob("cells/*/1/flows.parquet"))
    victim.write_bytes(victim.read_bytes()[:-10])
    lasthop.run(scenario(dumbbell), seeds=2, out=out)
    assert files(out) == whole


@pytest.mark.parametrize("change", ["loss", "seeds"])
def test_results_of_another_run_are_not_mixed_in(dumbbell: Path, tmp_path: Path, change: str) -> None:
    out = tmp_path / "out"
    lasthop.run(scenario(dumbbell), seeds=2, out=out)
    before = files(out)
    other = scenario(dumbbell, loss=0.02) if change == "loss" else scenario(dumbbell)
    with pytest.raises(lasthop.StoreError, match="another run"):
        lasthop.run(other, seeds=2 if change == "loss" else 1, out=out)
    assert files(out) == before


def test_a_directory_with_other_files_is_refused(
    lasthop_command: Command, dumbbell: Path, tmp_path: Path
) -> None:
    (tmp_path / "thesis.tex").write_text("do not touch")
    completed = lasthop_command("run", dumbbell, "--set", "duration=1 s", "--out", tmp_path)
    assert completed.returncode == 2
    assert "holds no results" in completed.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["thesis.tex"]


def test_two_runs_do_not_write_into_one_directory(dumbbell: Path, tmp_path: Path) -> None:
    chosen = scenario(dumbbell).with_seeds(1)
    store = Store.prepare(tmp_path / "out", chosen, "sim")
    with store.locked(), pytest.raises(lasthop.StoreError, match="another run is writing"):
        lasthop.run(chosen, out=tmp_path / "out")


def start_long_run(dumbbell: Path, out: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "lasthop", "run", str(dumbbell), "--set", "duration=200 s"]
    command += ["--set", "loss=0.001", "--seeds", "40", "--threads", "1", "--out", str(out)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def wait_for_cells(out: Path, count: int) -> None:
    deadline = time.monotonic() + 120
    # Cells under way, whose names begin with a dot, may vanish while they are looked into.
    while len(list(out.glob("cells/[!.]*/*/runs.parquet"))) < count:
        assert time.monotonic() < deadline, "the run makes no progress"
        time.sleep(0.005)


def check_cells_are_whole(out: Path) -> int:
    cells = [p for p in out.glob("cells/*/*") if p.is_dir() and not p.parent.name.startswith(".")]
    for cell in cells:
        assert {p.stem for p in cell.glob("*.parquet")} == set(TABLES)
        for table in cell.glob("*.parquet"):
            pl.read_parquet(table)
    return len(cells)


@pytest.mark.parametrize("wait", [1, 3, 6])
def test_a_killed_run_leaves_whole_cells_and_can_be_continued(
    dumbbell: Path, tmp_path: Path, wait: int
) -> None:
    out = tmp_path / "out"
    process = start_long_run(dumbbell, out)
    wait_for_cells(out, wait)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    kept = check_cells_are_whole(out)
    assert kept >= wait
    again = lasthop.Scenario.from_file(dumbbell).override("duration=200 s", "loss=0.001").with_seeds(40)
    result = lasthop.run(again, out=out)
    assert result.runs.height == 40
    assert check_cells_are_whole(out) == 40
    assert not list(out.rglob(".partial-*"))


def test_ctrl_c_ends_a_run_at_once_with_whole_cells(dumbbell: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start_long_run(dumbbell, out)
    wait_for_cells(out, 2)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "interrupted" in stderr
    assert "Traceback" not in stderr
    assert check_cells_are_whole(out) < 40
