"""What this machine can run of the kernel engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lasthop import _core

if TYPE_CHECKING:
    from lasthop.cli.doctor import Check

_NEEDED_FOR = {
    "root": "BPF, real-time scheduling",
    "network namespaces": "--engine kernel as this user",
    "user namespaces": "--engine kernel without root",
    "tun": "--engine kernel, shell",
    "ending connections": "--engine kernel, shell: nothing stays after a run",
    "congestion controls": "reno and cubic senders in the kernel",
    "timing": "valid runs of --engine kernel",
    "stalls": "valid runs of --engine kernel",
}


def _needed_for(name: str) -> str:
    if name.startswith("bpf"):
        return "--engine kernel-ebpf, counting every ACK, per-ACK samples"
    return _NEEDED_FOR.get(name, "--engine kernel, shell")


def checks() -> Iterator[Check]:
    """One row for everything the kernel engine uses; takes about a second."""
    from lasthop.cli.doctor import Check

    for name, available, found, remedy in _core.kernel_doctor():
        yield Check(name, available, _needed_for(name), found, remedy)
