"""``type = "command"``: what the user's programs print, and how they end."""

from __future__ import annotations

from pathlib import Path

import lasthop
from kernel.support import SCENARIO
from support import Command, summary_of

FETCH = 'curl -sS -o /dev/null -w "%{size_download}" http://server/bytes/50000; echo done >&2'
FAIL = "echo hopeless; echo first >&2; echo last >&2; exit 7"


def commands(file: Path, *runs: str) -> Path:
    """A scenario of these commands, each a workload of its own."""
    text = SCENARIO[: SCENARIO.index("[[workloads]]")].replace(
        'bytes = { default = "200 KiB"', 'size = { default = "1 B"'
    )
    for number, run in enumerate(runs):
        text += f'[[workloads]]\nname = "job-{number}"\ntype = "command"\nrun = \'{run}\'\n'
    file.write_text(text, encoding="utf-8")
    return file


def test_what_commands_print_is_kept_in_the_cell(lasthop_command: Command, tmp_path: Path) -> None:
    scenario, out = commands(tmp_path / "jobs.toml", FETCH, FAIL), tmp_path / "out"
    completed = lasthop_command("run", scenario, "--engine", "kernel", "--out", out)
    assert completed.returncode == 0, completed.stderr
    kept = out / "cells" / "base" / "1" / "outputs"
    printed = {file.name: file.read_text(encoding="utf-8") for file in kept.iterdir()}
    assert printed == {
        "job-0-0.out": "50000",
        "job-0-0.err": "done\n",
        "job-1-1.out": "hopeless\n",
        "job-1-1.err": "first\nlast\n",
    }
    assert not list((out / "cells").glob(".partial*"))
    assert "job-1 (flow 1, variant base, seed 1): " in completed.stdout
    assert "exit status: 7" in completed.stdout
    # A second look at the same results tells the same.
    (failure,) = lasthop.Result.open(out).failures
    assert (failure.workload, failure.flow, failure.exit_code) == ("job-1", 1, 7)
    exits = lasthop.Result.open(out).events.filter(kind="exit").sort("flow")
    assert exits["value"].to_list() == [0, 7]


def test_a_failing_command_tells_why_without_a_directory(lasthop_command: Command, tmp_path: Path) -> None:
    scenario = commands(tmp_path / "jobs.toml", FAIL)
    completed = lasthop_command("run", scenario, "--engine", "kernel")
    lines = [line.strip() for line in completed.stdout.splitlines()]
    told = next(number for number, line in enumerate(lines) if "exit status: 7" in line)
    assert lines[told + 1 : told + 3] == ["first", "last"]
    (failure,) = summary_of(lasthop_command("run", scenario, "--engine", "kernel", "--json"))["failures"]
    assert (failure["exit_code"], failure["last_lines"]) == (7, "first\nlast")


def test_the_simulator_has_no_programs(lasthop_command: Command, tmp_path: Path) -> None:
    completed = lasthop_command("run", commands(tmp_path / "jobs.toml", FETCH))
    assert completed.returncode == 2
    assert "use the kernel engine" in completed.stderr
    assert len(completed.stderr.splitlines()) == 1
