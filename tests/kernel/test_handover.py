"""``lasthop handover``: a radio goes down on command, in a run that is going on."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

import lasthop
from kernel.support import HANDOVER
from kernel.test_shell import ASK, ECHO
from kernel.traces import Run
from support import Command

TELL = """
if number == 5:
    subprocess.Popen([sys.executable, "-m", "lasthop", "handover"])
"""

COMMANDED = f"import subprocess, sys\n{ASK}".replace("range(25)", "range(40)").replace(
    "    udp.sendto(", f"{textwrap.indent(TELL, '    ')}    udp.sendto("
)


@pytest.fixture
def radio(tmp_path: Path) -> Path:
    """A path with a radio that stays where it is."""
    text = HANDOVER.read_text(encoding="utf-8")
    before, after = text.index("[[handovers]]"), text.index("[record]")
    text = (text[:before] + text[after:]).replace("lasts = {", "# lasts = {")
    file = tmp_path / "radio.toml"
    file.write_text(text, encoding="utf-8")
    return file


@contextmanager
def shell(scenario: Path) -> Iterator[str]:
    """The name of a run whose shell waits for the end of the test."""
    ready = 'echo "$LASTHOP_RUN"; exec sleep 600'
    process = Run("shell", scenario, "--", "sh", "-c", ready).process
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_the_radio_goes_down_when_told_from_inside(
    lasthop_command: Command, radio: Path, tmp_path: Path
) -> None:
    (tmp_path / "echo.py").write_text(ECHO, encoding="utf-8")
    (tmp_path / "ask.py").write_text(COMMANDED, encoding="utf-8")
    completed = lasthop_command(
        "shell", radio, "--server-command", f"{sys.executable} {tmp_path / 'echo.py'}",
        "--", sys.executable, tmp_path / "ask.py",
    )  # fmt: skip
    lines = completed.stdout.splitlines()
    assert [line.split(": ")[1] for line in lines if line.startswith("run ")] == ["station 1 down for 500 ms"]
    heard = [line for line in lines if not line.startswith("run ")]
    silent = [number for number, line in enumerate(heard) if line == "silence"]
    # Half a second of silence, with answers before and after it.
    assert len(silent) >= 2, completed.stderr
    assert heard[silent[0] - 1].startswith("answer")
    assert heard[silent[-1] + 1].startswith("answer")


def test_another_terminal_commands_too(lasthop_command: Command, radio: Path) -> None:
    with shell(radio) as name:
        arguments = ("handover", "wlan", "--station", "1", "--run", name)
        completed = lasthop_command(*arguments, "--lasts", "1 h")
        assert completed.stdout == f"run {name}: station 1 down for 3600 s\n", completed.stderr
        again = lasthop_command(*arguments)
        assert again.returncode == 2
        assert again.stderr == f"error: run {name}: the radio of station 1 is down already\n"


def test_what_cannot_be_is_one_sentence(lasthop_command: Command, radio: Path, wire: Path) -> None:
    with shell(radio) as name:
        for arguments, complaint in (
            (("wire",), f'run {name}: "wire" has no radio; the path\'s radio element is "wlan"'),
            (("--station", "2"), f"run {name}: there is no station 2; there are 1 to 1"),
            (("--lasts", "500"), '--lasts: "500" has no unit: expected one of ns, us, ms, s, min, h'),
        ):
            completed = lasthop_command("handover", *arguments, "--run", name)
            assert completed.returncode == 2
            assert completed.stderr == f"error: {complaint}\n"
    assert "no run nobody is going on" in lasthop_command("handover", "--run", "nobody").stderr
    with shell(wire) as name:
        assert "the path of this run has no radio" in lasthop_command("handover", "--run", name).stderr


def test_a_run_records_the_handover(radio: Path) -> None:
    text = radio.read_text(encoding="utf-8")
    before, after = text.index("[[workloads]]"), text.index("[record]")
    run = f"sleep 0.2; {sys.executable} -m lasthop handover --lasts 100ms; sleep 0.5"
    job = f'[[workloads]]\ntype = "command"\nrun = "{run}"\n'
    text = (text[:before] + job + text[after:]).replace("bytes = {", "# bytes = {")
    result = lasthop.run(lasthop.Scenario.from_text(text), engine="kernel")
    assert result.failures == []
    events = result.events.filter(pl.col("kind").cast(pl.String).str.starts_with("radio-")).sort("t_s")
    assert events["kind"].to_list() == ["radio-down", "radio-up"]
    assert events["value"].to_list() == [1, 1]
