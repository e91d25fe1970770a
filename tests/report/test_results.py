"""Reports and figures of real runs, through the API and the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lasthop
from lasthop.cli import build
from lasthop.report import claims, published_rows, report_of_directories, report_of_result, write_report
from lasthop.report.page import view
from lasthop.report.payload import choose_cells, series

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "scenarios" / "examples"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three senders over a lossy bottleneck, every packet logged."""
    out = tmp_path_factory.mktemp("results") / "dumbbell"
    scenario = lasthop.Scenario.from_file(EXAMPLES / "dumbbell.toml")
    lossy = scenario.set(loss=0.01, bytes="400 kB", packets=True, duration="60 s")
    lasthop.run(lossy.set(sender=["reno", "sack"]), seeds=4, out=out)
    return out


def test_a_run_is_reported_whole(directory: Path) -> None:
    report = report_of_directories([directory])
    page = view(report)
    assert page["engines"] == ["sim"]
    assert [row["name"] for row in page["parts"][0]["answers"][0]["rows"]] == ["sender=reno", "sender=sack"]
    assert page["parts"][0]["varying"] == ["sender"]
    assert page["parts"][0]["constant"]["loss"] == "0.01"
    assert page["has"]["sequence"]
    assert page["has"]["window"]
    assert "1\N{NO-BREAK SPACE}% of packets" in page["paths"][0]["text"]
    assert write_report(directory) == directory / "report.html"


def test_traces_agree_with_the_flow_totals(directory: Path) -> None:
    result = lasthop.Result.open(directory)
    report = report_of_result(result)
    drawn, _ = series(report, choose_cells(report, report.primary_metric()))
    for one in drawn:
        flow = result.flows.filter(variant=one["variant"], seed=one["seed"])
        sequence = one["sequence"]
        assert len(sequence["again"]["t"]) == flow["retransmissions"][0]
        sent = sum(sequence["data"]["hi"]) - sum(sequence["data"]["lo"])
        assert sent == pytest.approx(400, abs=0.01)
        # The last ACK also acknowledges the FIN, one further.
        assert sequence["ack"]["y"][-1] == pytest.approx(400.001)
        assert len(sequence["drop"]["t"]) > 0


def test_results_in_memory_are_reported_too(tmp_path: Path) -> None:
    scenario = lasthop.Scenario.from_file(EXAMPLES / "dumbbell.toml").set(duration="2 s")
    report = report_of_result(lasthop.run(scenario, seeds=2))
    file = write_report(report, tmp_path / "memory.html")
    assert "One variant was run" in file.read_text(encoding="utf-8")


def test_the_medium_is_reported(tmp_path: Path) -> None:
    scenario = lasthop.Scenario.from_file(EXAMPLES / "wlan.toml")
    tcp = scenario.set(workload="tcp", direction="downlink", stations=[1, 2], duration="1 s")
    page = view(report_of_result(lasthop.run(tcp, seeds=2, out=tmp_path / "wlan")))
    assert page["has"]["medium"]
    for one in page["series"]:
        assert sum(one["medium"].values()) == pytest.approx(1.0)
        assert one["medium"]["data"] > one["medium"]["ack"] > 0


def test_two_directories_stand_side_by_side(directory: Path, tmp_path: Path) -> None:
    import shutil

    other = tmp_path / "again"
    shutil.copytree(directory, other)
    report = report_of_directories([directory, other])
    assert report.engines == ["sim dumbbell", "sim again"]
    page = view(report)
    assert page["parts"][0]["agreements"][0]["sentence"].startswith(
        "sim again differs from sim dumbbell by 0.0"
    )


def test_directories_of_different_scenarios_are_not_compared(directory: Path, tmp_path: Path) -> None:
    scenario = lasthop.Scenario.from_file(EXAMPLES / "wlan.toml").set(duration="1 s")
    other = tmp_path / "wlan"
    lasthop.run(scenario, seeds=2, out=other)
    report = report_of_directories([directory, other])
    assert [part.tag for part in report.parts] == ["dumbbell", "wlan"]
    page = view(report)
    assert [len(part["answers"]) for part in page["parts"]] == [1, 1]
    assert len(page["paths"]) == 2


def test_commands_write_report_and_figure(directory: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    page = tmp_path / "page.html"
    done = runner.invoke(build(), ["report", str(directory), "--out", str(page)])
    assert done.exit_code == 0, done.output
    assert page.read_bytes().startswith(b"<!doctype html>")
    pytest.importorskip("matplotlib")
    figure = tmp_path / "figure.pdf"
    options = ["--figure", str(figure), "--kind", "cwnd", "--variant", "sender=sack", "--seed", "2"]
    done = runner.invoke(build(), ["plot", str(directory), *options])
    assert done.exit_code == 0, done.output
    assert figure.read_bytes().startswith(b"%PDF")


def test_a_directory_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(lasthop.LasthopError, match="holds no results"):
        write_report(tmp_path)


def test_rows_of_reproduce_are_taken_as_they_are_printed() -> None:
    text = json.dumps(
        {
            "rows": [
                {
                    "source": "ciminieri", "item": "table-7.13", "quantity": "mean_s",
                    "at": {"divacks": 12, "mode": "controlled"}, "published": 2.35, "ours": 2.4,
                    "ci_low": 2.3, "ci_high": 2.5, "n": 30, "engine": "sim", "verdict": "agrees",
                }
            ],
            "claims": [{"source": "ciminieri", "claim": "it helps", "holds": True, "evidence": "so"}],
        }
    )  # fmt: skip
    document = json.loads(text)
    row, claim = published_rows(document["rows"])[0], claims(document["claims"])[0]
    assert (row.published, row.ours, row.at["divacks"], row.verdict) == (2.35, 2.4, 12, "agrees")
    assert claim.holds is True
