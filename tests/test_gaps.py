"""What nobody saw is null all the way, and what was not written down is said."""

from __future__ import annotations

import io
import json
from pathlib import Path

import polars as pl
from rich.console import Console

import lasthop
from lasthop.cli.tables import summary_table
from lasthop.frames import SMALL_TABLES, TABLES
from lasthop.report.load import report_of_result
from lasthop.result import Result

EXAMPLE = Path(__file__).parents[1] / "scenarios" / "examples" / "dumbbell.toml"


def run_with(table: str, **columns: pl.Expr) -> Result:
    """A short run of two flows in which columns of a table are other values."""
    scenario = lasthop.Scenario.from_file(EXAMPLE).set(duration="2 s", flows=2).with_seeds(1)
    whole = lasthop.run(scenario)
    cell = {name: whole.scan(name).collect() for name in TABLES}
    assert table in SMALL_TABLES
    cell[table] = cell[table].with_columns(**columns)
    return Result.from_memory(scenario, "kernel", [cell])


def text_of(result: Result) -> str:
    console = Console(width=300, file=io.StringIO())
    with console.capture() as captured:
        console.print(summary_table(result, every_metric=True))
    return captured.get()


def test_a_count_unknown_for_one_flow_is_null_in_the_summary() -> None:
    one_known = pl.when(pl.col("flow") == 0).then(pl.col("timeouts"))
    result = run_with("flows", timeouts=one_known, cwnd_cuts=pl.lit(None, dtype=pl.UInt64))
    (metrics,) = json.loads(result.to_json())["variants"].values()
    for unknown in ("timeouts", "cwnd_cuts"):
        assert metrics[unknown] == {"mean": None, "ci95": None, "n": 0}
    assert metrics["retransmissions"]["n"] == 1


def test_one_unknown_cell_among_others_shows_as_a_dash() -> None:
    scenario = lasthop.Scenario.from_file(EXAMPLE).set(duration="2 s", sender=["reno", "sack"])
    whole = lasthop.run(scenario.with_seeds(1))
    frames = {name: whole.scan(name).collect() for name in TABLES}
    reno = pl.col("variant") == "sender=reno"
    frames["flows"] = frames["flows"].with_columns(timeouts=pl.when(reno).then(pl.col("timeouts")))
    text = text_of(Result.from_memory(scenario.with_seeds(1), "kernel", [frames]))
    (sack,) = [line for line in text.splitlines() if "sender=sack" in line]
    assert "–" in sack


def test_what_was_not_written_down_is_said() -> None:
    result = run_with("runs", unlogged_mac=pl.lit(1234.0), unlogged_packets=pl.lit(0.0))
    report = report_of_result(result)
    assert report.notes == [
        "kernel: 1,234 attempts at the medium were not written down in 1 of 1 runs: the log was full."
    ]
