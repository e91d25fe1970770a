"""Captures of the kernel engine, read by others' programs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from support import Command


@pytest.fixture
def captures(wire: Path, lasthop_command: Command, tmp_path: Path) -> list[Path]:
    out = tmp_path / "out"
    completed = lasthop_command("run", wire, "--engine", "kernel", "--out", out, "--pcap")
    assert completed.returncode == 0, completed.stderr
    found = sorted(out.glob("cells/*/*/*.pcapng"))
    assert [file.stem for file in found] == ["client", "server"]
    return found


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_finds_nothing_wrong(captures: list[Path]) -> None:
    for capture in captures:
        checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
        read = ["tshark", "-r", str(capture), *checks]
        broken = "_ws.malformed || tcp.checksum.status == 0 || ip.checksum.status == 0 || _ws.short"
        completed = subprocess.run([*read, "-Y", broken], capture_output=True, text=True, check=True)
        assert completed.stdout == ""
        lines = subprocess.run([*read, "-Y", "tcp"], capture_output=True, text=True, check=True).stdout
        assert len(lines.splitlines()) > 140


@pytest.mark.skipif(shutil.which("tcptrace") is None, reason="tcptrace is not installed")
@pytest.mark.skipif(shutil.which("editcap") is None, reason="editcap is not installed")
def test_tcptrace_counts_the_same_bytes(captures: list[Path], tmp_path: Path) -> None:
    for capture in captures:
        plain = tmp_path / f"{capture.stem}.pcap"
        subprocess.run(["editcap", "-F", "pcap", str(capture), str(plain)], check=True)
        completed = subprocess.run(["tcptrace", "-l", str(plain)], capture_output=True, text=True, check=True)
        (line,) = [line for line in completed.stdout.splitlines() if "unique bytes sent:" in line]
        both = [int(part.split()[0]) for part in line.split("unique bytes sent:")[1:]]
        assert max(both) == 200 << 10
