"""Numbers as people read them."""

from __future__ import annotations

import math

from .intervals import Estimate
from .model import Metric

MINUS = "\N{MINUS SIGN}"
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


def signed(value: float, digits: int = 3) -> str:
    """A difference: always with its sign."""
    text = number(value, digits)
    return text if text.startswith(MINUS) or value == 0 else f"+{text}"


def with_unit(value: float | None, metric: Metric, digits: int = 3) -> str:
    """A metric's stored value in its display unit."""
    if value is None:
        return "–"
    text = number(value * metric.scale, digits)
    return f"{text}\N{NO-BREAK SPACE}{metric.unit}" if metric.unit else text


def difference(estimate: Estimate, scale: float = 1.0) -> str:
    """The mean of a difference, no finer than its interval deserves."""
    digits = 3
    if estimate.low is not None and estimate.high is not None and estimate.high > estimate.low:
        digits = max(2, digits_for(estimate.low, estimate.high) - 1)
    return signed(estimate.mean * scale, digits)


def difference_interval(estimate: Estimate, scale: float = 1.0) -> str:
    """Both ends of a difference, with their signs; empty without an interval."""
    if estimate.low is None or estimate.high is None:
        return ""
    low, high = estimate.low * scale, estimate.high * scale
    digits = max(2, digits_for(low, high) - 1) if high > low else 3
    return f"{signed(low, digits)} to {signed(high, digits)}"


def interval(estimate: Estimate, scale: float = 1.0) -> str:
    """``2.32 to 2.38``, with as many digits as the width of the interval earns."""
    if estimate.low is None or estimate.high is None:
        return "no interval from one run"
    low, high = estimate.low * scale, estimate.high * scale
    digits = digits_for(low, high)
    return f"{number(low, digits)} to {number(high, digits)}"


def digits_for(low: float, high: float) -> int:
    """Significant digits at which both ends of an interval still differ visibly."""
    size = max(abs(low), abs(high))
    width = high - low
    if size == 0 or width <= 0:
        return 4
    return min(6, max(3, 2 + math.ceil(math.log10(size / width))))


def percent(fraction: float) -> str:
    """A share as a percentage; one digit after the point below ten."""
    value = 100 * fraction
    return f"{value:.0f}\N{NO-BREAK SPACE}%" if abs(value) >= 10 else f"{value:.1f}\N{NO-BREAK SPACE}%"


def plural(count: int, noun: str) -> str:
    """``1 seed``, ``30 seeds``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
