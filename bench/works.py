"""The work to be done: the same for every tool."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
DUMBBELL = HERE.parent / "scenarios" / "examples" / "dumbbell.toml"


@dataclass(frozen=True)
class Work:
    """One piece of work.

    Attributes:
        name: Short name.
        title: What it is.
        scenario: Our scenario file.
        settings: Its parameters.
        ns2: The ns-2 script and its arguments.
    """

    name: str
    title: str
    scenario: Path
    settings: dict[str, str | int] = field(default_factory=dict)
    ns2: tuple[str, ...] = ()


WORKS = (
    Work(
        "S1",
        "1 flow, 10 Mbit/s, 50 ms, 1000 s",
        DUMBBELL,
        {"flows": 1, "rate": "10 Mbit/s", "queue": 100, "duration": "1000 s"},
        ("dumbbell.tcl", "1", "10Mb", "50ms", "100", "1000"),
    ),
    Work(
        "S2",
        "100 flows, 100 Mbit/s, 50 ms, 100 s",
        DUMBBELL,
        {"flows": 100, "rate": "100 Mbit/s", "queue": 1000, "duration": "100 s"},
        ("dumbbell.tcl", "100", "100Mb", "50ms", "1000", "100"),
    ),
    Work(
        "S3b",
        "1 flow, 802.11g at 54 Mbit/s, 5 ms, 60 s",
        HERE / "wlan.toml",
        {"delay": "5 ms", "duration": "60 s"},
        ("wlan.tcl", "5ms", "60"),
    ),
)
