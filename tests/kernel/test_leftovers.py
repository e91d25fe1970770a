"""However a run ends, nothing of it stays."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kernel.support import remains, start
from support import Command

CYCLES = int(os.environ.get("LASTHOP_CYCLES", "6"))
"""Runs that are killed; LASTHOP_CYCLES sets how many."""

LONG = ("--set", "bytes=100 MiB", "--set", "counting=per-ack", "--set", "divacks=4")


def wait_for(condition: Callable[[], bool]) -> bool:
    """Whether something becomes true while anybody would wait for it."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def is_up(pid: int) -> bool:
    return Path(f"/run/lasthop/{pid}-0/namespaces").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cleans_up_at_once(wire: Path, number: signal.Signals) -> None:
    run = start("run", wire, "--engine", "kernel-ebpf", *LONG)
    assert wait_for(lambda: is_up(run.pid)), run.communicate()
    run.send_signal(number)
    _, errors = run.communicate(timeout=30)
    assert run.returncode in (130, -number), errors
    assert "Traceback" not in errors
    assert wait_for(lambda: not remains(run.pid)), remains(run.pid)


def test_killed_runs_leave_nothing(wire: Path, lasthop_command: Command) -> None:
    moments = random.Random(1)
    programs = ("shell", wire, "--", "sh", "-c", "sleep 1000 & sleep 999")
    cell = ("run", wire, "--engine", "kernel-ebpf", *LONG)
    pids = []
    for cycle in range(CYCLES):
        run = start(*(cell, programs)[cycle % 2])
        time.sleep(moments.uniform(0.0, 1.5))
        run.kill()
        # Programs of the run hold its pipes until they are gone.
        run.communicate(timeout=30)
        pids.append(run.pid)
    assert lasthop_command("clean").returncode == 0
    assert wait_for(lambda: not any(remains(pid) for pid in pids)), [remains(pid) for pid in pids]


def test_clean_names_what_it_removes(lasthop_command: Command) -> None:
    base = Path("/run/lasthop")
    dead = base / "4194303999-0"
    dead.mkdir(parents=True)
    (dead / "lock").touch()
    completed = lasthop_command("clean")
    assert "removed: run 4194303999-0" in completed.stdout.splitlines()
    assert not dead.exists()


def test_clean_leaves_live_runs_alone(wire: Path, lasthop_command: Command) -> None:
    run = start("shell", wire, "--", "sleep", "1000")
    try:
        assert wait_for(lambda: is_up(run.pid))
        assert f"left alone: run {run.pid}-0 is alive" in lasthop_command("clean").stdout.splitlines()
        assert is_up(run.pid)
    finally:
        run.terminate()
        run.communicate(timeout=30)
