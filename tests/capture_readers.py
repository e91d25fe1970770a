"""What others' programs read in a capture, and what must hold for every engine's."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lasthop import Result
from support import run_lasthop

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
needs_tcptrace = pytest.mark.skipif(shutil.which("tcptrace") is None, reason="tcptrace is not installed")

_CHECKSUMS = ("tcp", "udp", "ip")


@dataclass(frozen=True)
class Run:
    """One cell with its captures.

    Attributes:
        captures: The files by name.
        flow: The row of its only flow.
    """

    captures: dict[str, Path]
    flow: dict[str, Any]


def captured(scenario: Path, out: Path, *arguments: str) -> Run:
    """Runs a scenario of one variant, seed and flow with captures."""
    completed = run_lasthop("run", scenario, "--seeds", "1", "--out", out, "--pcap", *arguments)
    assert completed.returncode == 0, completed.stderr
    assert not list(out.glob("cells/.partial*"))
    (flow,) = Result.open(out).flows.to_dicts()
    return Run({file.stem: file for file in out.glob("cells/*/1/*.pcapng")}, flow)


def tshark(capture: Path, *arguments: str) -> list[str]:
    """The lines tshark prints of a capture, checksums checked."""
    checks = [word for p in _CHECKSUMS for word in ("-o", f"{p}.check_checksum:TRUE")]
    command = ["tshark", "-r", str(capture), *checks, *arguments]
    completed = subprocess.run(command, capture_output=True, text=True, check=True)
    return completed.stdout.splitlines()


def complaints(capture: Path) -> list[str]:
    """What tshark's experts call a warning or an error, and packets that do not parse."""
    summary = tshark(capture, "-q", "-z", "expert,warn")
    experts = [line.strip() for line in summary if re.match(r"\s+\d+\s", line)]
    bad = " || ".join(f"{protocol}.checksum.status == 0" for protocol in _CHECKSUMS)
    return experts + tshark(capture, "-Y", f"_ws.malformed || _ws.short || {bad}")


def good_checksums(capture: Path) -> int:
    """Packets whose TCP checksum was there to be verified, and right."""
    return len(tshark(capture, "-Y", "tcp.checksum.status == 1"))


def options_of_syns(capture: Path) -> list[list[str]]:
    """MSS, window scale, SACK-permitted and timestamps of the SYN and its answer."""
    names = ("mss_val", "wscale.shift", "sack_perm", "timestamp.tsval")
    fields = [word for name in names for word in ("-e", f"tcp.options.{name}")]
    lines = tshark(capture, "-Y", "tcp.flags.syn == 1", "-T", "fields", *fields)
    return [line.split("\t") for line in lines]


def tcptrace(capture: Path, count: str) -> list[int]:
    """A count of the capture's only connection: the opener's, then the other's."""
    command = ["tcptrace", "-l", "-n", str(capture)]
    completed = subprocess.run(command, capture_output=True, text=True, check=True)
    (line,) = [line for line in completed.stdout.splitlines() if f" {count}:" in line]
    return [int(part.split()[0]) for part in line.split(f"{count}:")[1:]]


def assert_opens_cleanly(run: Run) -> None:
    """A lossless run leaves nothing to complain about, at either host."""
    for name in ("server", "client"):
        capture = run.captures[name]
        assert complaints(capture) == []
        syn, answer = options_of_syns(capture)
        assert syn[:2] == answer[:2] == ["1460", "7"]
        assert all(value for value in (*syn, *answer))
        assert good_checksums(capture) > 100
        first, second, third = tshark(capture, "-Y", "tcp")[:3]
        assert "[SYN] Seq=0" in first
        assert "[SYN, ACK] Seq=0 Ack=1" in second
        assert "Seq=1 Ack=1" in third


def assert_tcptrace_agrees(run: Run) -> None:
    """The server's capture has the payload and the retransmissions of the flow's row."""
    server = run.captures["server"]
    _, sent = tcptrace(server, "unique bytes sent")
    assert sent == run.flow["bytes"]
    _, packets = tcptrace(server, "actual data pkts")
    assert packets == run.flow["data_packets"]
    _, again = tcptrace(server, "rexmt data pkts")
    assert again == run.flow["retransmissions"]


def assert_shows_division(run: Run) -> None:
    """Before the agent the stack's ACKs, behind it also those it made of them."""
    before, _ = tcptrace(run.captures["client-stack"], "pure acks sent")
    behind, _ = tcptrace(run.captures["client"], "pure acks sent")
    arrived, _ = tcptrace(run.captures["server"], "pure acks sent")
    assert run.flow["divided_acks"] > 100
    assert behind - before == run.flow["divided_acks"]
    assert arrived == behind
    acks = [
        tshark(run.captures[name], "-T", "fields", "-e", "tcp.ack") for name in ("client-stack", "client")
    ]
    assert set(acks[0]) < set(acks[1])
