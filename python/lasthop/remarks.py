"""What a reader of a result must know of its gaps: rows that were not written down."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

_GAPS = {
    "unlogged_packets": ("packets", "the log was full"),
    "unlogged_samples": ("samples", "the log was full"),
    "unlogged_mac": ("attempts at the medium", "the log was full"),
    "unlogged_events": ("events", "the log was full"),
    "uncaptured_packets": ("packets of the captures", "the disk did not keep up"),
    "lost_samples": ("samples", "they came faster than they could be read"),
}
"""Columns of ``runs`` that count what is missing: of what, and why."""


def gaps(runs: pl.DataFrame) -> list[str]:
    """One sentence for each kind of row that is missing in some run.

    >>> gaps(pl.DataFrame({"unlogged_packets": [0.0, 1200.0], "lost_samples": [0.0, 0.0]}))
    ['1,200 packets were not written down in 1 of 2 runs: the log was full.']
    """
    found = []
    for column, (what, why) in _GAPS.items():
        if column not in runs.columns:
            continue
        missing = runs[column].fill_null(0.0)
        affected = int((missing > 0).sum())
        if affected:
            count = f"{int(missing.sum()):,} {what}"
            found.append(f"{count} were not written down in {affected} of {runs.height} runs: {why}.")
    return found


def late(cells: Sequence[tuple[str, int]]) -> list[str]:
    """One sentence about the runs in real time, by variant and seed, that were too late to count.

    >>> late([("base", 1)]), late([])
    (['1 run left out, late beyond the bound in every attempt: base seed 1.'], [])
    """
    if not cells:
        return []
    count = f"{len(cells)} run{'s' if len(cells) > 1 else ''} left out"
    which = ", ".join(f"{variant} seed {seed}" for variant, seed in cells)
    return [f"{count}, late beyond the bound in every attempt: {which}."]
