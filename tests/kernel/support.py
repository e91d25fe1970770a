"""A scenario both engines play, and what a machine needs for it."""

from __future__ import annotations

import functools
from pathlib import Path

from lasthop import _core

HANDOVER = Path(__file__).parents[2] / "scenarios" / "compare" / "handover.toml"
"""The radio is gone from 1 s to 1.5 s."""

SCENARIO = """
name = "wire"
title = "A download over one wire"
duration = "20 s"

[parameters]
bytes = { default = "200 KiB", help = "Size of the file." }
counting = { default = "per-segment", help = "What lets the sender's window grow." }
divacks = { default = 0, help = "Divided ACKs." }

[hosts.server]
personality = "linux-6"
congestion_control = "reno"
ack_counting = "$counting"

[hosts.client]
personality = "linux-6"

[[path]]
name = "wire"
type = "wired"
rate = "10 Mbit/s"
delay = "20 ms"
queue = "200 packets"

[[agents]]
at = "client"
type = "divacks"
count = "$divacks"

[[workloads]]
type = "bulk"
bytes = "$bytes"

[record]
samples = "10 ms"
"""

LOSSY = SCENARIO.replace('queue = "200 packets"', 'queue = "12 packets"').replace("200 KiB", "1 MiB")
"""The same through a queue that overflows in slow start."""


@functools.cache
def lacks() -> str:
    """What this machine, or this user, lacks; empty when nothing."""
    needed = ("root", "network namespaces", "tun", "bpf: per-ack", "bpf: divack")
    missing = [
        f"{name}: {found}" for name, ok, found, _ in _core.kernel_doctor() if name in needed and not ok
    ]
    return "; ".join(missing)
