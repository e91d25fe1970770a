"""``lasthop shell``: real programs over the path."""

from __future__ import annotations

import sys
from pathlib import Path

from kernel.support import HANDOVER
from lasthop.kernel.status_line import spell
from support import Command


def test_the_exit_code_is_the_commands(lasthop_command: Command, wire: Path) -> None:
    assert lasthop_command("shell", wire, "--", "true").returncode == 0
    assert lasthop_command("shell", wire, "--", "sh", "-c", "exit 7").returncode == 7
    assert lasthop_command("shell", wire, "--", "sh", "-c", "kill -TERM $$").returncode == 128 + 15


def test_curl_fetches_a_file_by_name(lasthop_command: Command, wire: Path, tmp_path: Path) -> None:
    content = bytes(range(256)) * 100
    files = tmp_path / "files"
    files.mkdir()
    (files / "some").write_bytes(content)
    fetched = tmp_path / "fetched"
    completed = lasthop_command(
        "shell", wire, "--serve", files, "--", "curl", "--silent", "-o", fetched, "http://server/some"
    )
    assert completed.returncode == 0, completed.stderr
    assert fetched.read_bytes() == content


def test_a_program_of_ones_own_serves(lasthop_command: Command, wire: Path) -> None:
    completed = lasthop_command(
        "shell", wire, "--server-command", "iperf3 -s -1",
        "--", "sh", "-c", "sleep 0.5; iperf3 -c server -n 100K --json | grep -c sum_received",
    )  # fmt: skip
    assert completed.stdout.strip() == "1", completed.stderr


def test_only_the_path_is_there(lasthop_command: Command, wire: Path) -> None:
    completed = lasthop_command("shell", wire, "--", "ls", "/sys/class/net")
    devices = lasthop_command("shell", wire, "--", "cat", "/proc/net/dev").stdout
    assert completed.returncode == 0
    assert [line.split(":")[0].strip() for line in devices.splitlines()[2:]] == ["lo", "lasthop0"]


ECHO = """
import socket
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("0.0.0.0", 7))
while True:
    udp.sendto(*udp.recvfrom(100))
"""

ASK = """
import os, socket, time
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.settimeout(0.1)
for number in range(25):
    udp.sendto(str(number).encode(), (os.environ["LASTHOP_SERVER"], 7))
    try:
        print("answer to", udp.recv(100).decode())
    except TimeoutError:
        print("silence")
    time.sleep(0.1)
"""


def test_handovers_come_on_schedule(lasthop_command: Command, tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(ECHO, encoding="utf-8")
    (tmp_path / "ask.py").write_text(ASK, encoding="utf-8")
    completed = lasthop_command(
        "shell", HANDOVER, "--server-command", f"{sys.executable} {tmp_path / 'echo.py'}",
        "--", sys.executable, tmp_path / "ask.py",
    )  # fmt: skip
    heard = completed.stdout.splitlines()
    assert len(heard) == 25, completed.stderr
    silent = [number for number, line in enumerate(heard) if line == "silence"]
    # Half a second, in one piece, with answers before and after it.
    assert len(silent) >= 2
    first, last = silent[0], silent[-1]
    assert heard[first - 1].startswith("answer")
    assert heard[last + 1].startswith("answer")


def test_a_command_that_does_not_exist_is_one_sentence(lasthop_command: Command, wire: Path) -> None:
    completed = lasthop_command("shell", wire, "--", "no-such-program")
    assert completed.returncode == 2
    assert completed.stderr.splitlines() == [
        "error: cannot start no-such-program: No such file or directory (os error 2)"
    ]


def test_rates_are_those_since_the_last_status() -> None:
    state = {
        "now_s": 1.5, "downlink_bytes": 125_000, "uplink_bytes": 0, "dropped": 0,
        "travelling": 0, "queued": 0, "radios_down": [],
    }  # fmt: skip
    before = {**state, "now_s": 1.0, "downlink_bytes": 0}
    assert "down 2.00 Mbit/s, up 0.00 Mbit/s" in spell(state, before)
    assert "radio up" in spell(state, before)
