"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .intervals import Estimate
from .model import Metric

MINUS = "\N{MINUS SIGN}"
CI = "95\N{NO-BREAK SPACE}%\N{NO-BREAK SPACE}CI"
THIN = "\N{NARROW NO-BREAK SPACE}"


def number(value: float | None, digits: int = 3) -> str:
    """``value`` with about ``digits`` significant digits and a real minus sign."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    if value == 0:
        return "0"
    if value == int(value) and abs(value) < 10_000:
        return str(int(value)).replace("-", MINUS)
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{min(decimals, 6)}f}".replace(",", THIN)
    return text.replace("-", MINUS)


def with_unit(value: float | None, metric: Metric, digits: int = 3) -> str:
    """A metric's stored value in its display unit."""
    if value is None:
        return "–"
    text = number(value * metric.scale, digits)
    return f"{text}\N{NO-BREAK SPACE}{metric.unit}" if metric.unit else text


def decimals_of(estimate: Estimate, scale: float = 1.0) -> int | None:
    """Digits after the point that an interval earns; ``None`` without a width.

    Two digits of its width, one when that begins with 5 or more.
    """
    if estimate.low is None or estimate.high is None or estimate.high <= estimate.low:
        return None
    size = math.log10((estimate.high - estimate.low) * scale)
    digits = 0 if size % 1 >= math.log10(5) else 1
    return max(0, min(9, digits - math.floor(size)))


def fixed(value: float, decimals: int | None) -> str:
    """``value`` with so many digits after the point, or three significant ones."""
    if decimals is None or not math.isfinite(value):
        return number(value)
    return f"{value:,.{decimals}f}".replace(",", THIN).replace("-", MINUS)


def shared_decimals(estimates: Sequence[Estimate], scale: float = 1.0) -> int | None:
    """Digits after the point for a column of means: what their intervals earn in the median."""
    known = sorted(d for e in estimates if (d := decimals_of(e, scale)) is not None)
    return known[len(known) // 2] if known else None


def mean(estimate: Estimate, metric: Metric, decimals: int | None = None) -> str:
    """A mean with its unit, no finer than its interval unless ``decimals`` says how fine."""
    own = decimals_of(estimate, metric.scale) if decimals is None else decimals
    text = fixed(estimate.mean * metric.scale, own)
    return f"{text}\N{NO-BREAK SPACE}{metric.unit}" if metric.unit else text


def difference(estimate: Estimate, scale: float = 1.0, decimals: int | None = None) -> str:
    """The mean of a difference with its sign, no finer than its interval."""
    own = decimals_of(estimate, scale) if decimals is None else decimals
    return _with_sign(fixed(estimate.mean * scale, own))


def difference_interval(estimate: Estimate, scale: float = 1.0, decimals: int | None = None) -> str:
    """Both ends of a difference with their signs; empty when there is no width."""
    if estimate.low is None or estimate.high is None:
        return ""
    low, high = _ends(estimate.low, estimate.high, estimate, scale, decimals)
    return "" if low == high else f"{_with_sign(low)} to {_with_sign(high)}"


def interval(estimate: Estimate, scale: float = 1.0, decimals: int | None = None) -> str:
    """``2.32 to 2.38``; one number when every run gave the same."""
    if estimate.low is None or estimate.high is None:
        return "no interval from one run"
    if decimals_of(estimate, scale) is None:
        return "every run the same"
    return " to ".join(_ends(estimate.low, estimate.high, estimate, scale, decimals))


def _ends(low: float, high: float, estimate: Estimate, scale: float, decimals: int | None) -> tuple[str, str]:
    """Both ends with ``decimals`` digits; with their own when those would make them equal."""
    own = decimals_of(estimate, scale)
    first, last = (fixed(end * scale, own if decimals is None else decimals) for end in (low, high))
    if first == last:
        first, last = (fixed(end * scale, own) for end in (low, high))
    return first, last


def _with_sign(text: str) -> str:
    return text if text.startswith(MINUS) or not text.strip("0.") else f"+{text}"


def percent(fraction: float) -> str:
    """A share as a percentage; one digit after the point below ten."""
    value = 100 * fraction
    return f"{value:.0f}\N{NO-BREAK SPACE}%" if abs(value) >= 10 else f"{value:.1f}\N{NO-BREAK SPACE}%"


def plural(count: int, noun: str) -> str:
    """``1 seed``, ``30 seeds``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
