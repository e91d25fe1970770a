"""Numbers and rows as people read them, for terminal and Markdown alike."""

from __future__ import annotations

from collections.abc import Mapping

from lasthop.reproduce.model import ItemOutcome, Row
from lasthop.stats import Estimate
from lasthop.units import digits


def spell_at(at: Mapping[str, object]) -> str:
    """Which row, in words.

    >>> spell_at({"divacks": 12, "mode": "controlled"})
    'divacks 12, mode controlled'
    """
    return ", ".join(f"{key} {value}" for key, value in at.items())


def spell_ours(ours: Estimate, figures: int = 4) -> str:
    """Our value with its interval.

    >>> from lasthop.stats import estimate
    >>> spell_ours(estimate([2.0, 2.2])), spell_ours(estimate([]))
    ('2.1 (0.8294 to 3.371)', '–')
    """
    if ours.mean is None:
        return "–"
    text = digits(ours.mean, figures)
    if ours.low is None or ours.high is None or ours.low == ours.high:
        return text
    return f"{text} ({digits(ours.low, figures)} to {digits(ours.high, figures)})"


def spell_ratio(row: Row) -> str:
    """Ours over published."""
    return "–" if row.ratio is None else f"{row.ratio:.2f}"


def spell_error(outcome: ItemOutcome) -> str:
    """An item's median error in words; empty when nothing was compared."""
    error = outcome.median_error
    if error is None:
        return ""
    n = len(outcome.counted_errors)
    which = f" of {', '.join(outcome.item.counts)}" if outcome.item.counts else ""
    return f"median absolute error {100 * error:.1f} % over {n} numbers{which}"
