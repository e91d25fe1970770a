"""The simulator held to ns-2, through the command line as a user would.

Goodput, retransmissions and timeouts are compared; the packet by packet
sequences are compared in the simulator's own tests.
"""

from __future__ import annotations

import csv
import statistics
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest

import lasthop
from support import Command, summary_of

ORACLE = Path(__file__).parent / "oracles" / "ns2-dumbbell.csv"


@dataclass(frozen=True)
class Case:
    """One sender in one scenario, with what ns-2 got for each seed."""

    sender: str
    name: str
    settings: tuple[str, ...]
    goodput_bps: tuple[float, ...]
    retransmissions: tuple[float, ...]
    timeouts: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.sender}-{self.name}"


def loss_settings(name: str) -> list[str]:
    """The parameters behind the oracle's name of a scenario."""
    if name.startswith("uniform"):
        return [f"loss={name.removeprefix('uniform').removesuffix('_delack')}"]
    if name.startswith("drop") and not name.startswith("droptail"):
        first, _, last = name.removeprefix("drop").partition("-")
        numbers = range(int(first), int(last or first) + 1)
        return [f"drops={','.join(map(str, numbers))}"]
    return []


def read_cases() -> list[Case]:
    groups: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    with ORACLE.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            groups[row["sender"], row["scenario"]].append(row)
    cases = []
    for (sender, name), rows in groups.items():
        first = rows[0]
        settings = [
            "personality=ns-2",
            f"sender={sender}",
            f"queue={first['queue']}",
            f"window={first['window']}",
            f"duration={first['duration_s']} s",
            f"delayed_ack={'true' if first['delayed_ack'] == '1' else 'false'}",
            *loss_settings(name),
        ]
        columns = ("goodput_bps", "retransmissions", "timeouts")
        values = [tuple(float(row[column]) for row in rows) for column in columns]
        cases.append(Case(sender, name, tuple(settings), *values))
    return cases


CASES = read_cases()
EXACT = [case for case in CASES if not case.name.startswith("uniform")]
RANDOM = [case for case in CASES if case.name.startswith("uniform")]


@pytest.mark.parametrize("case", EXACT, ids=str)
def test_goodput_without_chance_is_that_of_ns2(case: Case, lasthop_command: Command, dumbbell: Path) -> None:
    sets = [part for setting in case.settings for part in ("--set", setting)]
    content = summary_of(lasthop_command("run", dumbbell, *sets, "--seeds", "1", "--json"))
    (metrics,) = content["variants"].values()
    assert metrics["goodput_bps"]["mean"] == pytest.approx(case.goodput_bps[0], rel=0.02)
    if case.name.startswith("drop") and not case.name.startswith("droptail"):
        assert metrics["retransmissions"]["mean"] == case.retransmissions[0]
        assert metrics["timeouts"]["mean"] == case.timeouts[0]


@pytest.mark.parametrize("case", RANDOM, ids=str)
def test_mean_goodput_under_random_loss_is_that_of_ns2(case: Case, dumbbell: Path) -> None:
    """Within 5 % of ns-2's mean over its seeds, or inside their spread."""
    scenario = lasthop.Scenario.from_file(dumbbell).override(*case.settings)
    ours = lasthop.run(scenario, seeds=30).summary()["base"]["goodput_bps"].mean
    assert ours is not None
    theirs = statistics.fmean(case.goodput_bps)
    near = abs(ours / theirs - 1) <= 0.05
    inside = min(case.goodput_bps) <= ours <= max(case.goodput_bps)
    assert near or inside, f"ours {ours:.0f} bit/s, ns-2 {theirs:.0f} bit/s"
