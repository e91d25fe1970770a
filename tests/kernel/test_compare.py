"""Simulator and Linux stack do the same to the same scenario."""

from __future__ import annotations

import statistics

import pytest

import lasthop
from lasthop.kernel.compare import compare
from support import ROOT

BOUND = 0.05
"""How far apart transfer times may be, as a median over variants without random loss."""


def test_transfer_times_agree_where_nothing_is_random() -> None:
    scenario = lasthop.Scenario.from_file(ROOT / "scenarios" / "compare" / "wired.toml").with_seeds(1)
    rows = [row for row in compare(scenario) if row.invalid == 0]
    if len(rows) < 4:
        pytest.skip("this machine is too busy: most runs were late beyond the bound")
    differences = [abs(row.difference) for row in rows if row.difference is not None]
    assert len(differences) == len(rows)
    assert statistics.median(differences) <= BOUND, differences


def test_windows_grow_alike_in_slow_start() -> None:
    scenario = lasthop.Scenario.from_file(ROOT / "scenarios" / "compare" / "wired.toml").with_seeds(1)
    (row,) = compare(scenario.set(control=["reno"], rtt=["250 ms"]))
    if row.invalid:
        pytest.skip("this machine is too busy: the run was late beyond the bound")
    simulated, real = row.windows
    for ours, theirs in zip(simulated[:5], real[:5], strict=True):
        assert ours is not None
        assert theirs == pytest.approx(ours, rel=0.1, abs=1)
