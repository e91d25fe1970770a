"""The kernel engine's speed and punctuality on this machine, a plain veth beside it.

Needs cargo and root (or user namespaces); says in one sentence when it cannot.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
COMMAND = ["cargo", "run", "--quiet", "--release", "-p", "lasthop-kernel", "--example", "bench", "--"]
LABELS = {
    "veth_tcp_gbit_s": "veth pair, one TCP connection, Gbit/s",
    "veth_small_kpps": "veth pair, 64-byte packets, thousand/s",
    "wire_tcp_gbit_s": "our wire, one TCP connection, whole bursts, Gbit/s",
    "wire_tcp_by_packet_gbit_s": "our wire, one TCP connection, packet by packet, Gbit/s",
    "wire_small_kpps": "our wire, 64-byte packets, thousand/s",
    "veth_rtt_ms": "veth pair, round trip of a datagram, ms",
    "wire_rtt_error_ms": "our wire, 20 Mbit/s and 20 ms: round trip too long by, ms",
    "wire_tcp_at_20_mbit_s": "the same, one TCP connection, Mbit/s",
    "wire_lateness_p50_ms": "the same, packets late by (median), ms",
    "wire_lateness_p99_ms": "the same (99 of 100 packets), ms",
    "wire_lateness_max_ms": "the same (the latest), ms",
    "stolen_ms": "time the hypervisor took meanwhile, ms",
}


def measure(seconds: float) -> dict[str, float]:
    """Runs the measurements, each for so long."""
    output = subprocess.run(
        [*COMMAND, str(seconds)], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    pairs = (line.split() for line in output.splitlines())
    return {name: float(value) for name, value in pairs}


def main() -> int:
    """Measures and prints a table."""
    try:
        measured = measure(3.0)
    except FileNotFoundError:
        print("kernel engine: not measured, cargo is not installed")
        return 0
    except subprocess.CalledProcessError as error:
        print(f"kernel engine: not measured, {error.stderr.strip()}")
        return 0
    table = Table("kernel engine", "measured", title="Real packets in real time")
    for name, label in LABELS.items():
        table.add_row(label, f"{measured[name]:.2f}")
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
