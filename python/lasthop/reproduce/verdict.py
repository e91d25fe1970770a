"""When a number of ours agrees with a published one.

The rule, from the strictest to the loosest:

agrees
    ours lies within 15 % of the published number, or its 95 % interval meets
    the published mean ± the standard deviation printed beside it;
close
    ours lies within 30 %;
differs
    otherwise.

A published 0 agrees with anything below 0.5. Standard deviations are compared
by the same rule, but do not enter a table's median error: a testbed's spread
has causes the model leaves out on purpose. Settings taken from the source are
``input``, the measurement a setting was chosen by is ``calibration``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from lasthop.reproduce.model import PublishedNumber, Role, Verdict
from lasthop.stats import Estimate, estimate, t_quantile

AGREES_WITHIN = 0.15
CLOSE_WITHIN = 0.30


def judge(number: PublishedNumber, ours: Estimate, role: Role = "compared") -> Verdict:
    """The verdict on one number.

    >>> from lasthop.stats import estimate
    >>> published = PublishedNumber("table", "mean_s", {}, 3.0)
    >>> judge(published, estimate([3.3, 3.5])), judge(published, estimate([5.0, 5.1]))
    ('agrees', 'differs')
    """
    if ours.mean is None:
        return "missing"
    if role != "compared":
        return role
    if number.value == 0:
        return "agrees" if abs(ours.mean) < 0.5 else "differs"
    error = abs(ours.mean / number.value - 1.0)
    if error <= AGREES_WITHIN or _intervals_meet(number, ours):
        return "agrees"
    return "close" if error <= CLOSE_WITHIN else "differs"


def _intervals_meet(number: PublishedNumber, ours: Estimate) -> bool:
    if number.spread is None or ours.low is None or ours.high is None:
        return False
    return ours.low <= number.value + number.spread and ours.high >= number.value - number.spread


def spread_of(values: Sequence[float | None]) -> Estimate:
    """The standard deviation of the values, with the interval of a normal sample.

    >>> spread_of([1.0, 2.0, 3.0]).mean
    1.0
    """
    present = [value for value in values if value is not None]
    n = len(present)
    if n < 2:
        return Estimate(None, None, None, n)
    mean = estimate(present).mean or 0.0
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in present) / (n - 1))
    half = t_quantile(0.95, n - 1) * deviation / math.sqrt(2 * (n - 1))
    return Estimate(deviation, max(0.0, deviation - half), deviation + half, n)
