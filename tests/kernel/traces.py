"""What a run of the command line could leave on the machine, and whether it is there."""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

RUNS = Path("/run/lasthop")

_COUNT = itertools.count()
_LIBC = ctypes.CDLL(None, use_errno=True)
_NSFS_ROOT = -10003
"""Where ``open_by_handle_at`` looks for namespaces (``linux/fcntl.h``)."""


class Run:
    """The command line in a process group of its own; ``user`` precedes the command.

    Attributes:
        process: The process.
        programs: Numbers of the BPF programs it held when it was stopped.
        namespaces: Handles of its network namespaces then.
    """

    def __init__(self, *arguments: str | Path, user: Sequence[str] = ()) -> None:
        self._mark = f"LASTHOP_TEST={os.getpid()}-{next(_COUNT)}"
        name, value = self._mark.split("=")
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [*user, sys.executable, "-m", "lasthop", *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            text=True,
            start_new_session=True,
            env={**os.environ, name: value},
        )
        self.programs: set[int] = set()
        self.namespaces: set[str] = set()

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self.process.pid

    def is_up(self) -> bool:
        """Whether its hosts exist."""
        return (RUNS / f"{self.pid}-0" / "namespaces").exists()

    def kill(self) -> None:
        """Notes what the run holds at this moment and kills it."""
        self.process.send_signal(signal.SIGSTOP)
        for text in _descriptors(self.pid):
            self.programs |= {int(number) for number in re.findall(r"^prog_id:\s*(\d+)$", text, re.MULTILINE)}
        for file in RUNS.glob(f"{self.pid}-*/handles"):
            self.namespaces |= set(file.read_text(encoding="ascii").split())
        self.process.kill()
        # Programs of the run hold its pipes until they are gone.
        self.process.communicate(timeout=30)

    def processes(self) -> list[int]:
        """The run, its warden and its programs."""
        return [pid for pid in _pids() if self._mark.encode() in _read(f"/proc/{pid}/environ").split(b"\0")]

    def remains(self, said: str = "") -> list[str]:
        """Whatever there still is of the run; ``said`` is what ``lasthop clean`` printed."""
        found = [f"process {pid}" for pid in self.processes()]
        found += [str(path) for path in RUNS.glob(f"*{self.pid}-*")]
        controls = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text(encoding="ascii")
        found += [name for name in controls.split() if name.startswith(f"lh_{self.pid:x}_")]
        found += [f"namespace {handle}" for handle in self.namespaces if _exists(handle)]
        held = {int(number) for number in re.findall(r"BPF program \w+ \(number (\d+)\)", said)}
        return found + [f"BPF program {number}" for number in held & self.programs]


def wait_for(condition: Callable[[], bool]) -> bool:
    """Whether something becomes true while anybody would wait for it."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def _pids() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal())


def _read(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def _descriptors(pid: int) -> Iterator[str]:
    """What the kernel says of each open descriptor of a process."""
    return (_read(entry).decode() for entry in Path(f"/proc/{pid}/fdinfo").glob("*"))


def _exists(handle: str) -> bool:
    """Whether a namespace can still be opened by its handle."""
    kind, _, digits = handle.partition(":")
    value = bytes.fromhex(digits)
    raw = struct.pack("Ii", len(value), int(kind)) + value
    descriptor: int = _LIBC.open_by_handle_at(_NSFS_ROOT, raw, os.O_RDONLY | os.O_CLOEXEC)
    if descriptor < 0:
        return False
    os.close(descriptor)
    return True
