"""The last line of a terminal, showing what the path does while programs run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import IO, Any

State = Mapping[str, Any]
"""now_s, downlink_bytes, uplink_bytes, dropped, travelling, queued, radios_down."""


def spell(state: State, before: State | None) -> str:
    """The state of the path in words; rates are those since ``before``.

    >>> now = dict(now_s=2.0, downlink_bytes=250_000, uplink_bytes=5_000, dropped=3,
    ...            travelling=12, queued=7, radios_down=[1])
    >>> before = dict(now_s=1.5, downlink_bytes=125_000, uplink_bytes=0)
    >>> spell(now, before)
    't 2.0 s · down 2.00 Mbit/s, up 0.08 Mbit/s · queue 7 frames, 12 travelling · 3 dropped · radio DOWN'
    """
    rates = [_rate(state, before, key) for key in ("downlink_bytes", "uplink_bytes")]
    down = state["radios_down"]
    radio = "up" if not down else "DOWN" if list(down) == [1] else f"DOWN at {', '.join(map(str, down))}"
    parts = [
        f"t {state['now_s']:.1f} s",
        f"down {rates[0]:.2f} Mbit/s, up {rates[1]:.2f} Mbit/s",
        f"queue {state['queued']} frames, {state['travelling']} travelling",
        f"{state['dropped']} dropped",
        f"radio {radio}",
    ]
    return " · ".join(parts)


def _rate(state: State, before: State | None, key: str) -> float:
    if before is None or state["now_s"] <= before["now_s"]:
        return 0.0
    return float((state[key] - before[key]) * 8 / (state["now_s"] - before["now_s"]) / 1e6)


class StatusLine:
    """Keeps the last line of a terminal for itself while it is entered.

    Programs scroll in the lines above (DECSTBM). One that draws on the whole
    screen overwrites the line, which comes back with the next status.
    """

    def __init__(self, terminal: IO[str]) -> None:
        self._terminal = terminal
        self._before: State | None = None
        self._rows = 0

    def __enter__(self) -> StatusLine:
        self._reserve()
        return self

    def __exit__(self, *_: object) -> None:
        self._write(f"\x1b7\x1b[r\x1b[{self._rows};1H\x1b[2K\x1b8")

    def __call__(self, state: State) -> None:
        """Shows a new state."""
        if self._size()[1] != self._rows:
            self._reserve()
        columns = self._size()[0]
        text = spell(state, self._before)[: columns - 1]
        self._before = dict(state)
        self._write(f"\x1b7\x1b[{self._rows};1H\x1b[2K\x1b[7m{text}\x1b[0m\x1b8")

    def _reserve(self) -> None:
        self._rows = self._size()[1]
        # A new line first, so that what stands in the last one moves up.
        self._write(f"\n\x1b7\x1b[1;{self._rows - 1}r\x1b8\x1b[1A")

    def _size(self) -> tuple[int, int]:
        try:
            columns, rows = os.get_terminal_size(self._terminal.fileno())
        except OSError:
            columns, rows = shutil.get_terminal_size()
        return max(columns, 20), max(rows, 2)

    def _write(self, text: str) -> None:
        self._terminal.write(text)
        self._terminal.flush()
