"""A normal user gets results, or one clear sentence and exit code 2."""

from __future__ import annotations

import json
import shlex
import signal
from pathlib import Path

import pytest

from kernel.normal_user import NOBODY, as_nobody
from kernel.traces import Run, wait_for
from support import summary_of


@pytest.fixture
def shared_wire(wire: Path) -> Path:
    """The scenario where everybody can read it."""
    for directory in list(wire.parents)[:3]:
        directory.chmod(0o755)
    return wire


def test_a_run_gives_results(shared_wire: Path) -> None:
    content = summary_of(
        as_nobody("run", shared_wire, "--engine", "kernel", "--lateness-bound", "10 s", "--json")
    )
    (metrics,) = content["variants"].values()
    assert metrics["transfer_time_s"]["n"] == 1


def test_a_shell_reaches_the_server_and_gives_the_exit_code(shared_wire: Path) -> None:
    ask = "test $(curl -s http://server/bytes/1000 | wc -c) = 1000 && exit 7"
    completed = as_nobody("shell", shared_wire, "--", "sh", "-c", ask)
    assert completed.returncode == 7, completed.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_command_ends_all_of_it(shared_wire: Path, number: signal.Signals) -> None:
    run = Run("run", shared_wire, "--engine", "kernel", "--set", "bytes=100 MiB", user=NOBODY)
    # The command, itself again in a user namespace, and the warden.
    assert wait_for(lambda: len(run.processes()) >= 3), run.process.communicate()
    run.process.send_signal(number)
    _, errors = run.process.communicate(timeout=30)
    assert run.process.returncode in (130, -number), errors
    assert "Traceback" not in errors
    assert wait_for(lambda: not run.processes()), run.processes()


def test_doctor_tells_that_user_namespaces_do() -> None:
    rows = {row["name"]: row for row in json.loads(as_nobody("doctor", "--json").stdout)}
    assert rows["user namespaces"]["ok"]
    assert not rows["root"]["ok"]
    assert all(row["remedy"] for row in rows.values() if not row["ok"])


@pytest.mark.parametrize(
    "command",
    [
        "run {wire} --engine kernel --set counting=per-ack",
        "run {wire} --engine kernel-ebpf --set divacks=4",
        "shell {wire} --ebpf --set divacks=4 -- true",
    ],
)
def test_what_needs_root_is_one_sentence(shared_wire: Path, command: str) -> None:
    completed = as_nobody(*shlex.split(command.format(wire=shared_wire)))
    assert completed.returncode == 2
    assert completed.stderr.startswith("error: ")
    assert "root" in completed.stderr
    assert len(completed.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["run {wire} --engine kernel", "shell {wire} -- true", "compare {wire}"])
def test_without_user_namespaces_there_is_one_sentence(shared_wire: Path, command: str) -> None:
    completed = as_nobody(*shlex.split(command.format(wire=shared_wire)), namespaces=False)
    assert completed.returncode == 2
    assert completed.stderr.startswith("error: this user may not create user namespaces (")
    assert "max_user_namespaces" in completed.stderr
    assert len(completed.stderr.splitlines()) == 1


def test_without_user_namespaces_doctor_and_clean_still_work() -> None:
    completed = as_nobody("doctor", "--json", namespaces=False)
    rows = {row["name"]: row for row in json.loads(completed.stdout)}
    assert completed.returncode == 0
    assert not rows["user namespaces"]["ok"]
    assert "max_user_namespaces" in rows["user namespaces"]["remedy"]
    assert rows["tun"]["remedy"] == rows["ending connections"]["remedy"] == "make network namespaces possible"
    assert as_nobody("clean", namespaces=False).returncode == 0
