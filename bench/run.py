"""Packets per second of wall time, ours beside ns-2 on the same work.

Each tool does each work several times on one thread; the median counts. Ours
is measured around the engine, with the sender sampled at every ACK and the
tables handed to Python; ns-2 is measured around its process, which records
nothing and whose start takes about 0.05 s. A packet is a segment with payload
that was sent. ns-3 is not run here: its numbers are kept in reference.csv,
measured on a 2-core machine.
"""

from __future__ import annotations

import csv
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

import lasthop
from lasthop import _core
from works import HERE, WORKS, Work

REPETITIONS = 3
SCALES = (10, 100, 1000, 10_000)


@dataclass(frozen=True)
class Row:
    """What one tool took for one work."""

    work: str
    tool: str
    wall_s: float
    packets: int
    packets_per_s: float


def row(work: str, tool: str, wall_s: float, packets: int) -> Row:
    """A row with its rate."""
    return Row(work, tool, round(wall_s, 4), packets, round(packets / wall_s, 1))


def median_of(measure: Callable[[], tuple[float, int]]) -> tuple[float, int]:
    """Median wall time of several repetitions, and the packets of one."""
    taken = [measure() for _ in range(REPETITIONS)]
    return statistics.median(wall for wall, _ in taken), taken[0][1]


def ours(work: Work) -> Row:
    """Our engine on this work."""
    scenario = lasthop.Scenario.from_file(work.scenario).set(**work.settings)

    def measure() -> tuple[float, int]:
        started = time.perf_counter()
        (cell,) = _core.run(scenario.plan, [(0, 1)])
        wall = time.perf_counter() - started
        packets = cell.tables["flows"]["data_packets"]
        assert not isinstance(packets, tuple)
        return wall, int(packets.sum())

    return row(work.name, "lasthop", *median_of(measure))


def ns2(work: Work) -> Row:
    """ns-2 on this work."""
    script, *arguments = work.ns2

    def measure() -> tuple[float, int]:
        started = time.perf_counter()
        output = subprocess.run(
            ["ns", str(HERE / "ns2" / script), *arguments], capture_output=True, text=True, check=True
        ).stdout
        wall = time.perf_counter() - started
        (line,) = (line for line in output.splitlines() if line.startswith("packets "))
        return wall, int(line.split()[1])

    return row(work.name, "ns-2", *median_of(measure))


def kept() -> list[Row]:
    """Numbers of tools that are not run here."""
    with (HERE / "reference.csv").open(encoding="utf-8") as file:
        return [
            row(entry["work"], entry["tool"], float(entry["wall_s"]), int(entry["packets"]))
            for entry in csv.DictReader(file)
        ]


def scaling() -> list[dict[str, float]]:
    """Cost and memory of one run with ever more flows, each in a fresh process."""
    results = []
    for flows in SCALES:
        output = subprocess.run(
            [sys.executable, str(HERE / "flows.py"), str(flows)], capture_output=True, text=True, check=True
        ).stdout
        results.append(json.loads(output))
    return results


def speed_table(rows: list[Row]) -> Table:
    """Every tool on every work, with how many times faster ours is."""
    table = Table(title="packets per second of wall time", title_justify="left")
    for heading in ("work", "", "tool", "wall s", "packets", "packets/s", "lasthop is"):
        table.add_column(heading, justify="left" if heading in ("work", "", "tool") else "right")
    for work in WORKS:
        mine = next(r for r in rows if r.work == work.name and r.tool == "lasthop")
        for entry in (r for r in rows if r.work == work.name):
            first = entry is mine
            ratio = "" if first else f"{mine.packets_per_s / entry.packets_per_s:.1f} times faster"
            table.add_row(
                work.name if first else "",
                work.title if first else "",
                entry.tool,
                f"{entry.wall_s:.3f}",
                str(entry.packets),
                f"{entry.packets_per_s:,.0f}",
                ratio,
            )
        table.add_section()
    return table


def scaling_table(results: list[dict[str, float]]) -> Table:
    """Cost per packet and memory per flow against the number of flows."""
    table = Table(title="one run with many flows, each with a window of 16 segments", title_justify="left")
    for heading in ("flows", "wall s", "packets", "ns per packet", "bytes per flow"):
        table.add_column(heading, justify="right")
    base = results[0]
    for entry in results:
        more = entry["flows"] - base["flows"]
        memory = f"{(entry['rss_bytes'] - base['rss_bytes']) / more:,.0f}" if more >= 500 else ""
        table.add_row(
            f"{entry['flows']:.0f}",
            f"{entry['wall_s']:.3f}",
            f"{entry['packets']:.0f}",
            f"{entry['wall_s'] / entry['packets'] * 1e9:.0f}",
            memory,
        )
    return table


def main() -> None:
    """Measures, prints, and writes bench/latest.json."""
    console = Console(width=None if sys.stdout.isatty() else 140)
    have_ns2 = shutil.which("ns") is not None
    rows: list[Row] = []
    for work in WORKS:
        rows.append(ours(work))
        if have_ns2:
            rows.append(ns2(work))
        rows.extend(entry for entry in kept() if entry.work == work.name)
    scales = scaling()
    rows.extend(row(f"flows-{s['flows']}", "lasthop", s["wall_s"], int(s["packets"])) for s in scales)
    console.print(speed_table(rows))
    if not have_ns2:
        console.print("ns-2 is not installed, so it was not run beside (package ns2).")
    console.print(scaling_table(scales))
    latest: Path = HERE / "latest.json"
    latest.write_text(json.dumps([asdict(entry) for entry in rows], indent=2) + "\n", encoding="utf-8")
    console.print("written: bench/latest.json")


if __name__ == "__main__":
    main()
