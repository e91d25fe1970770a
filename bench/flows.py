"""Runs one cell with many flows in a process of its own and prints what it took.

usage: python bench/flows.py FLOWS
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import lasthop
from lasthop import _core
from works import DUMBBELL

SECONDS = 10
"""Virtual seconds; at 1 Mbit/s per flow about 1250 packets each."""


def peak_bytes() -> int:
    """The most memory this process has had resident.

    Not from `getrusage`: its value survives an exec and may be the parent's.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def main() -> None:
    """Runs and prints ``{flows, wall_s, packets, rss_bytes}``."""
    flows = int(sys.argv[1])
    scenario = lasthop.Scenario.from_file(DUMBBELL).set(
        flows=flows,
        rate=f"{flows} Mbit/s",
        queue=20 * flows,
        window=16,
        stagger=f"{1_000_000 // flows} us",
        samples="off",
        duration=f"{SECONDS} s",
    )
    (cell,) = _core.run(scenario.plan, [(0, 1)])
    packets = cell.tables["flows"]["data_packets"]
    assert not isinstance(packets, tuple)
    result = {"flows": flows, "wall_s": cell.wall_s, "packets": int(packets.sum())}
    print(json.dumps({**result, "rss_bytes": peak_bytes()}))


if __name__ == "__main__":
    main()
