"""However a run of the command line ends, nothing of it stays."""

from __future__ import annotations

import logging
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kernel.traces import RUNS, Run, wait_for
from support import Command

_LOG = logging.getLogger(__name__)

CYCLES = int(os.environ.get("LASTHOP_CYCLES", "3"))
"""Runs of each command that are killed; LASTHOP_CYCLES sets how many."""

LONG = ("--set", "bytes=100 MiB", "--set", "counting=per-ack", "--set", "divacks=4")
"""A transfer that outlives every test, by a sender and a receiver in BPF."""

PROGRAMS = ("sh", "-c", "curl -s -o /dev/null http://server/bytes/100000000 & sleep 1000 & sleep 999")
"""Programs of a client: a transfer, one in the background, one in front."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cleans_up_at_once(wire: Path, number: signal.Signals) -> None:
    run = Run("run", wire, "--engine", "kernel-ebpf", *LONG)
    assert wait_for(run.is_up), run.process.communicate()
    run.process.send_signal(number)
    _, errors = run.process.communicate(timeout=30)
    assert run.process.returncode in (130, -number), errors
    assert "Traceback" not in errors
    assert wait_for(lambda: not run.remains()), run.remains()


@pytest.mark.parametrize(
    "command",
    [("run", "--engine", "kernel-ebpf", *LONG), ("shell", "--ebpf", *LONG, "--", *PROGRAMS)],
    ids=["run", "shell"],
)
def test_killed_runs_leave_nothing(wire: Path, lasthop_command: Command, command: tuple[str, ...]) -> None:
    moments = random.Random(os.getpid())
    name, *options = command
    slowest, seen = 0.0, 0
    for cycle in range(CYCLES):
        run = Run(name, wire, *options)
        life = moments.uniform(0.0, 2.0)
        time.sleep(life)
        run.kill()
        dead = time.monotonic()
        seen += bool(run.programs and run.namespaces)
        said = lasthop_command("clean").stdout
        assert wait_for(lambda run=run, said=said: not run.remains(said)), (  # type: ignore[misc]
            cycle,
            life,
            run.remains(said),
        )
        slowest = max(slowest, time.monotonic() - dead)
    _LOG.info("%d of %d had BPF programs and hosts; gone %.2f s after death", seen, CYCLES, slowest)


FEW_NAMESPACES = """
echo 6 > /proc/sys/user/max_net_namespaces
for cycle in 1 2 3 4 5 6; do
    "$@" sh -c 'curl -s -o /dev/null http://server/bytes/100000000 & sleep 999' &
    until test -e /run/lasthop/$!-0/namespaces; do kill -0 $! || exit 3; sleep 0.02; done
    sleep 0.5
    kill -9 $!
    wait $!
    sleep 0.5
done
"$@" true
"""
"""Six killed runs with two hosts each where six network namespaces are all there may be."""


def test_killed_runs_give_their_namespaces_back(wire: Path) -> None:
    user = ("unshare", "--user", "--map-root-user", "sh", "-c", FEW_NAMESPACES, "sh")
    command = [*user, sys.executable, "-m", "lasthop", "shell", str(wire), "--"]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert completed.returncode == 0, completed.stderr


def test_clean_names_what_it_removes(lasthop_command: Command) -> None:
    dead = RUNS / "4194303999-0"
    said = ""
    # A run that starts at the same moment may remove it first.
    for _ in range(5):
        dead.mkdir(parents=True)
        (dead / "lock").touch()
        said += lasthop_command("clean").stdout
        assert not dead.exists()
        if "removed: run 4194303999-0" in said.splitlines():
            return
    pytest.fail(said)


def test_clean_leaves_live_runs_alone(wire: Path, lasthop_command: Command) -> None:
    run = Run("shell", wire, "--", "sleep", "1000")
    try:
        assert wait_for(run.is_up)
        assert f"left alone: run {run.pid}-0 is alive" in lasthop_command("clean").stdout.splitlines()
        assert run.is_up()
    finally:
        run.process.terminate()
        run.process.communicate(timeout=30)
