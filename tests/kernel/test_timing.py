"""``--lateness-bound`` and ``--attempts``: which runs count."""

from __future__ import annotations

from pathlib import Path

import lasthop
from lasthop.timing import Timing
from support import Command, summary_of


def test_a_late_run_is_repeated_and_never_averaged_in(lasthop_command: Command, wire: Path) -> None:
    # No packet is ever less than a nanosecond late.
    arguments = ("run", wire, "--engine", "kernel", "--lateness-bound", "1ns", "--attempts", "2")
    (metrics,) = summary_of(lasthop_command(*arguments, "--json"))["variants"].values()
    assert all(metric["n"] == 0 for metric in metrics.values())
    told = lasthop_command(*arguments).stdout
    assert "1 run left out, late beyond the bound in every attempt: base seed 1" in told
    result = lasthop.run(lasthop.Scenario.from_file(wire), engine="kernel", timing=Timing.of("1 ns", 2))
    assert result.late == [("base", 1)]
    assert result.runs.select("valid", "attempts", "lateness_bound_s").row(0) == (0, 2, 1e-9)
    assert result.flows["bytes"][0] == 200 << 10


def test_a_patient_bound_takes_every_run(lasthop_command: Command, wire: Path) -> None:
    completed = lasthop_command("run", wire, "--engine", "kernel", "--lateness-bound", "10 s", "--json")
    (metrics,) = summary_of(completed)["variants"].values()
    assert metrics["transfer_time_s"]["n"] == 1


def test_a_bound_is_a_time_above_zero(lasthop_command: Command, wire: Path) -> None:
    for bound, complaint in (
        ("2", "has no unit"),
        ("2 parsec", "expected one of ns, us, ms, s, min, h"),
        ("0 ms", "above zero"),
    ):
        completed = lasthop_command("run", wire, "--engine", "kernel", "--lateness-bound", bound)
        assert completed.returncode == 2
        assert complaint in completed.stderr


def test_the_simulator_is_never_late(lasthop_command: Command, wire: Path) -> None:
    completed = lasthop_command("run", wire, "--attempts", "2")
    assert completed.returncode == 2
    assert "--attempts is for kernel engines" in completed.stderr
