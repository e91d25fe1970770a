"""Fewer points where a screen could not tell the difference anyway."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def merge_ticks(t: Floats, low: Floats, high: Floats, most: int) -> tuple[Floats, Floats, Floats, bool]:
    """Joins touching segments sent within one of ``most`` time slots into one tick.

    The inked area stays the same to within a slot's width; returns whether
    anything was joined.
    """
    if len(t) <= most:
        return t, low, high, False
    slots = most
    while True:
        joined = _merge_once(t, low, high, slots)
        if len(joined[0]) <= most or slots <= 16:
            return *joined, True
        slots //= 2


def _merge_once(t: Floats, low: Floats, high: Floats, slots: int) -> tuple[Floats, Floats, Floats]:
    span = float(t[-1] - t[0]) or 1.0
    slot = np.floor((t - t[0]) / span * slots)
    starts = np.ones(len(t), dtype=bool)
    starts[1:] = (slot[1:] != slot[:-1]) | (np.abs(low[1:] - high[:-1]) > 1e-9)
    index = np.flatnonzero(starts)
    return t[index], np.minimum.reduceat(low, index), np.maximum.reduceat(high, index)


def envelope(t: Floats, values: list[Floats], most: int) -> tuple[Floats, list[Floats], bool]:
    """Keeps first, lowest, highest and last point of each slot of the first series.

    Further series are taken at the same points. Peaks survive, unlike with
    every n-th point.
    """
    n = len(t)
    if n <= most:
        return t, values, False
    slots = max(1, most // 4)
    bounds = np.linspace(0, n, slots + 1).astype(int)
    lead = np.nan_to_num(values[0], nan=-1.0)
    keep: set[int] = set()
    for start, stop in pairwise(bounds):
        if stop > start:
            part = lead[start:stop]
            keep |= {
                int(start),
                int(start + part.argmin()),
                int(start + part.argmax()),
                int(stop - 1),
            }
    index = np.array(sorted(keep))
    return t[index], [v[index] for v in values], True


def changes(t: Floats, y: Floats) -> tuple[Floats, Floats]:
    """A step line needs only the points where it steps, and its last one."""
    if len(t) < 3:
        return t, y
    keep = np.ones(len(t), dtype=bool)
    gone = np.isnan(y)
    keep[1:] = (y[1:] != y[:-1]) & ~(gone[1:] & gone[:-1])
    keep[-1] = True
    return t[keep], y[keep]
