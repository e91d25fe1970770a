"""When numbers agree."""

from __future__ import annotations

import pytest

from lasthop.reproduce.model import PublishedNumber, median
from lasthop.reproduce.verdict import judge, spread_of
from lasthop.stats import Estimate


def number(value: float, spread: float | None = None) -> PublishedNumber:
    return PublishedNumber("table", "mean_s", {}, value, spread)


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [(10.0, "agrees"), (11.4, "agrees"), (8.6, "agrees"), (12.0, "close"), (7.1, "close"), (13.1, "differs")],
)
def test_distance_decides(ours: float, verdict: str) -> None:
    assert judge(number(10.0), Estimate(ours, ours, ours, 30)) == verdict


def test_a_wide_published_spread_is_met_by_our_interval() -> None:
    ours = Estimate(12.8, 12.0, 13.6, 30)
    assert judge(number(10.0), ours) == "close"
    assert judge(number(10.0, spread=2.5), ours) == "agrees"
    assert judge(number(10.0, spread=1.5), ours) == "close"


def test_a_published_zero_agrees_with_next_to_nothing() -> None:
    assert judge(number(0.0), Estimate(0.2, 0.1, 0.3, 30)) == "agrees"
    assert judge(number(0.0), Estimate(3.0, 2.0, 4.0, 30)) == "differs"


def test_without_a_value_of_ours_the_number_is_missing() -> None:
    assert judge(number(10.0), Estimate(None, None, None, 0)) == "missing"


def test_inputs_and_calibrations_are_not_judged() -> None:
    assert judge(number(10.0), Estimate(99.0, None, None, 1), "input") == "input"
    assert judge(number(10.0), Estimate(99.0, None, None, 1), "calibration") == "calibration"


def test_spread_is_the_sample_deviation() -> None:
    found = spread_of([1.0, 2.0, 3.0, 4.0])
    assert found.mean == pytest.approx(1.29099, rel=1e-5)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 1.29 < found.high
    assert spread_of([1.0]).mean is None


def test_median_of_an_even_number_lies_between() -> None:
    assert median([0.4, 0.1, 0.2, 0.3]) == pytest.approx(0.25)
