"""Means with confidence intervals, and comparisons over the same seeds.

Student's t is computed here, not taken from SciPy: the package would be the
only reason for a dependency of 100 MB.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Verdict = Literal["higher", "lower", "equal", "undecided"]


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > tiny else tiny)
    result = d
    for m in range(1, 400):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 + numerator * d
            d = 1.0 / (d if abs(d) > tiny else tiny)
            c = 1.0 + numerator / c
            c = c if abs(c) > tiny else tiny
            result *= d * c
        if abs(d * c - 1.0) < 1e-15:
            break
    return result


def regularized_beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function I_x(a, b).

    >>> round(regularized_beta(2, 3, 0.5), 6)
    0.6875
    """
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    front = math.exp(log_front)
    # The fraction converges fast on this side of the mean only.
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _beta_fraction(a, b, x) / a
    return 1.0 - front * _beta_fraction(b, a, 1.0 - x) / b


def t_tail(t: float, degrees: int) -> float:
    """Two-sided probability of a Student t beyond |t|.

    >>> round(t_tail(2.228139, 10), 5)
    0.05
    """
    return regularized_beta(degrees / 2, 0.5, degrees / (degrees + t * t))


@lru_cache(maxsize=256)
def t_quantile(level: float, degrees: int) -> float:
    """The t that a Student variable stays within with probability ``level``.

    >>> round(t_quantile(0.95, 29), 4)
    2.0452
    """
    low, high = 0.0, 1.0
    while t_tail(high, degrees) > 1.0 - level:
        high *= 2.0
    for _ in range(200):
        middle = (low + high) / 2.0
        if t_tail(middle, degrees) > 1.0 - level:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


@dataclass(frozen=True)
class Estimate:
    """A mean and how sure it is.

    Attributes:
        mean: Mean of the values; None without a value.
        low: Lower end of the interval; None with fewer than two values.
        high: Upper end of the interval; None with fewer than two values.
        n: Number of values.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def to_dict(self) -> dict[str, object]:
        """``{mean, ci95: [low, high], n}``; ``ci95`` is None without an interval."""
        interval = None if self.low is None else [self.low, self.high]
        return {"mean": self.mean, "ci95": interval, "n": self.n}


def estimate(values: Iterable[float | None], level: float = 0.95) -> Estimate:
    """Mean with the confidence interval of Student's t.

    Missing values (None, NaN) are left out and not counted. One value has a
    mean and no interval: nothing is known of its spread.

    >>> estimate([9.0, 10.0, 11.0])
    Estimate(mean=10.0, low=7.515..., high=12.484..., n=3)
    >>> estimate([5.0])
    Estimate(mean=5.0, low=None, high=None, n=1)
    """
    present = [float(v) for v in values if v is not None and not math.isnan(v)]
    n = len(present)
    if n == 0:
        return Estimate(None, None, None, 0)
    mean = math.fsum(present) / n
    if n == 1:
        return Estimate(mean, None, None, 1)
    variance = math.fsum((v - mean) ** 2 for v in present) / (n - 1)
    half = t_quantile(level, n - 1) * math.sqrt(variance / n)
    return Estimate(mean, mean - half, mean + half, n)


@dataclass(frozen=True)
class Comparison:
    """How one variant differs from another over the same seeds.

    Attributes:
        difference: Mean of (ours - theirs), with its interval.
        ratio: Mean of ours over mean of theirs; None when theirs is 0 or missing.
        p_value: Probability of so large a difference by chance; None with fewer than two pairs.
        verdict: ``higher`` or ``lower`` when the interval excludes 0, ``equal``
            when every pair agrees exactly, otherwise ``undecided``.
    """

    difference: Estimate
    ratio: float | None
    p_value: float | None
    verdict: Verdict


def _p_value(difference: Estimate, level: float) -> float | None:
    half = difference.half_width
    if half is None or difference.mean is None:
        return None
    if half == 0.0:
        return 1.0 if difference.mean == 0.0 else 0.0
    degrees = difference.n - 1
    return t_tail(difference.mean / half * t_quantile(level, degrees), degrees)


def _verdict(difference: Estimate, all_equal: bool) -> Verdict:
    if all_equal:
        return "equal"
    if difference.low is None or difference.high is None:
        return "undecided"
    if difference.low > 0.0:
        return "higher"
    return "lower" if difference.high < 0.0 else "undecided"


def compare(ours: Sequence[float | None], theirs: Sequence[float | None], level: float = 0.95) -> Comparison:
    """Compares two variants run with the same seeds, pair by pair.

    The same seed meets the same losses in every variant, so the differences
    of pairs spread far less than the values themselves.

    >>> result = compare([10.2, 11.1, 12.3, 9.4], [9.9, 10.9, 12.0, 9.0])
    >>> result.verdict, round(result.difference.mean, 3)
    ('higher', 0.3)

    Raises:
        ValueError: When the two do not have the same length.
    """
    if len(ours) != len(theirs):
        raise ValueError(f"pairs are needed: {len(ours)} values against {len(theirs)}")
    pairs = [
        (a, b)
        for a, b in zip(ours, theirs, strict=True)
        if a is not None and b is not None and not math.isnan(a) and not math.isnan(b)
    ]
    difference = estimate((a - b for a, b in pairs), level)
    base = math.fsum(b for _, b in pairs)
    ratio = math.fsum(a for a, _ in pairs) / base if base != 0.0 else None
    all_equal = bool(pairs) and all(a == b for a, b in pairs)
    return Comparison(difference, ratio, _p_value(difference, level), _verdict(difference, all_equal))
