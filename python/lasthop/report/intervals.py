"""Means with confidence intervals, and differences of paired runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lasthop.stats import t_quantile

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean with its two-sided 95 % interval; no interval from one value."""

    mean: float
    low: float | None
    high: float | None
    n: int

    @property
    def known(self) -> bool:
        """Whether there is an interval at all."""
        return self.low is not None and self.high is not None

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies on one side of zero."""
        if self.low is None or self.high is None:
            return False
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Difference:
    """How two groups of runs differ: ``b`` minus ``a``."""

    estimate: Estimate
    #: Whether runs of equal seed were subtracted from each other.
    paired: bool
    #: In how many pairs ``b`` was below ``a``, above it, and how many there are.
    below: int
    above: int


def _variance(values: Sequence[float], mean: float) -> float:
    return sum((v - mean) ** 2 for v in values) / (len(values) - 1)


def estimate(values: Sequence[float]) -> Estimate:
    """Mean and 95 % Student interval of the finite ones among ``values``."""
    finite = [v for v in values if math.isfinite(v)]
    n = len(finite)
    if n == 0:
        return Estimate(math.nan, None, None, 0)
    mean = math.fsum(finite) / n
    if n == 1:
        return Estimate(mean, None, None, 1)
    half = t_quantile(LEVEL, n - 1) * math.sqrt(_variance(finite, mean) / n)
    return Estimate(mean, mean - half, mean + half, n)


def paired_difference(a: dict[int, float], b: dict[int, float]) -> Difference:
    """``b`` minus ``a`` over the seeds both have.

    Runs of one seed meet the same random losses, so their difference holds less
    noise than the difference of two means.
    """
    seeds = sorted(s for s in a if s in b and math.isfinite(a[s]) and math.isfinite(b[s]))
    differences = [b[s] - a[s] for s in seeds]
    return Difference(
        estimate(differences),
        True,
        sum(d < 0 for d in differences),
        sum(d > 0 for d in differences),
    )


def welch_difference(a: Sequence[float], b: Sequence[float]) -> Difference:
    """Difference of two means of unrelated runs (Welch's interval)."""
    first = [v for v in a if math.isfinite(v)]
    second = [v for v in b if math.isfinite(v)]
    if not first or not second:
        return Difference(Estimate(math.nan, None, None, 0), False, 0, 0)
    mean_a, mean_b = math.fsum(first) / len(first), math.fsum(second) / len(second)
    difference = mean_b - mean_a
    n = min(len(first), len(second))
    if n < 2:
        return Difference(Estimate(difference, None, None, n), False, 0, 0)
    part_a = _variance(first, mean_a) / len(first)
    part_b = _variance(second, mean_b) / len(second)
    spread = part_a + part_b
    if spread == 0:
        return Difference(Estimate(difference, difference, difference, n), False, 0, 0)
    freedom = spread**2 / (part_a**2 / (len(first) - 1) + part_b**2 / (len(second) - 1))
    half = t_quantile(LEVEL, max(1, math.floor(freedom))) * math.sqrt(spread)
    return Difference(Estimate(difference, difference - half, difference + half, n), False, 0, 0)
