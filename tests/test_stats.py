"""Intervals and comparisons against values from tables, and against their definition."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lasthop.stats import compare, estimate, regularized_beta, t_quantile, t_tail

numbers = st.floats(-1e9, 1e9, allow_nan=False)


@pytest.mark.parametrize(
    ("level", "degrees", "expected"),
    [
        (0.95, 1, 12.7062),
        (0.95, 2, 4.3027),
        (0.95, 4, 2.7764),
        (0.95, 9, 2.2622),
        (0.95, 29, 2.0452),
        (0.95, 1000, 1.9623),
        (0.99, 5, 4.0321),
        (0.90, 10, 1.8125),
    ],
)
def test_t_quantiles_are_those_of_the_printed_table(level: float, degrees: int, expected: float) -> None:
    assert t_quantile(level, degrees) == pytest.approx(expected, abs=6e-5)


def test_one_degree_of_freedom_is_the_cauchy_distribution() -> None:
    for t in (0.1, 1.0, 7.0, 100.0):
        assert t_tail(t, 1) == pytest.approx(1 - 2 * math.atan(t) / math.pi, rel=1e-10)


@given(st.floats(0.5, 50), st.floats(0.5, 50), st.floats(0.001, 0.999))
def test_the_beta_function_is_symmetric(a: float, b: float, x: float) -> None:
    assert regularized_beta(a, b, x) == pytest.approx(1 - regularized_beta(b, a, 1 - x), abs=1e-10)


@given(st.lists(numbers, min_size=2, max_size=40))
def test_an_interval_is_t_times_the_standard_error_around_the_mean(values: list[float]) -> None:
    result = estimate(values)
    half = t_quantile(0.95, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    assert result.mean == pytest.approx(statistics.fmean(values), rel=1e-9, abs=1e-3)
    assert result.half_width == pytest.approx(half, rel=1e-6, abs=1e-3)
    assert result.n == len(values)


def test_one_value_has_a_mean_and_no_interval() -> None:
    assert estimate([5.0]).to_dict() == {"mean": 5.0, "ci95": None, "n": 1}


def test_no_value_has_neither() -> None:
    assert estimate([None, float("nan")]).to_dict() == {"mean": None, "ci95": None, "n": 0}


def test_missing_values_are_left_out() -> None:
    assert estimate([1.0, None, 3.0]) == estimate([1.0, 3.0])


def test_pairs_find_a_difference_that_the_spread_of_values_hides() -> None:
    theirs = [10.0, 20.0, 30.0, 40.0]
    ours = [10.5, 20.6, 30.4, 40.5]
    result = compare(ours, theirs)
    assert result.verdict == "higher"
    assert result.difference.mean == pytest.approx(0.5)
    assert result.p_value is not None
    assert result.p_value < 0.01


def test_a_paired_t_test_gives_the_textbook_p_value() -> None:
    # Student's sleep data (1908): extra hours with two drugs, the same ten patients.
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    result = compare(first, second)
    assert result.verdict == "lower"
    assert result.difference.mean == pytest.approx(-1.58)
    assert result.p_value == pytest.approx(0.002833, abs=1e-6)


@given(st.lists(st.tuples(numbers, numbers), min_size=2, max_size=20))
def test_swapping_the_sides_swaps_the_verdict(pairs: list[tuple[float, float]]) -> None:
    swapped = {"higher": "lower", "lower": "higher", "equal": "equal", "undecided": "undecided"}
    ours, theirs = [a for a, _ in pairs], [b for _, b in pairs]
    assert compare(theirs, ours).verdict == swapped[compare(ours, theirs).verdict]


def test_equal_pairs_are_equal() -> None:
    assert compare([1.0, 2.0], [1.0, 2.0]).verdict == "equal"


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="pairs"):
        compare([1.0], [1.0, 2.0])
