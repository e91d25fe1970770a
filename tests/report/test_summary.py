"""The answer: who wins, by how much, how sure."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from lasthop.report import METRICS, ReportInput, Variant
from lasthop.report.intervals import estimate, paired_difference, welch_difference
from lasthop.report.numbers import interval, mean
from lasthop.report.summary import EngineAnswer, agreements, answer


def runs(engine: str = "sim", **values: list[float | None]) -> ReportInput:
    """Transfer times per variant, one per seed."""
    rows = [
        {"variant": name, "seed": seed, "engine": engine, "transfer_time_s": value}
        for name, times in values.items()
        for seed, value in enumerate(times, 1)
    ]
    return ReportInput(
        title="t",
        metrics=pl.DataFrame(rows, schema_overrides={"transfer_time_s": pl.Float64}),
        variants=[Variant(name) for name in values],
    )


def answered(report: ReportInput, engine: str = "sim") -> EngineAnswer:
    metric = report.primary_metric()
    assert metric is not None
    found = answer(report, metric, engine)
    assert found is not None
    return found


def test_student_interval_of_three_values() -> None:
    # Mean 10, standard error 1/sqrt(3), t(0.975, 2) = 4.3027.
    found = estimate([9.0, 10.0, 11.0])
    assert (found.low, found.high) == pytest.approx((10 - 2.4841, 10 + 2.4841), abs=1e-3)


def test_pairing_removes_what_both_share() -> None:
    base = {1: 3.0, 2: 5.0, 3: 9.0}
    faster = {1: 2.5, 2: 4.4, 3: 8.6}
    paired = paired_difference(base, faster)
    unpaired = welch_difference(list(base.values()), list(faster.values()))
    assert paired.estimate.mean == pytest.approx(unpaired.estimate.mean)
    assert paired.estimate.excludes_zero
    assert not unpaired.estimate.excludes_zero
    assert (paired.below, paired.above) == (3, 0)


def test_welch_interval_against_a_worked_example() -> None:
    # Means 20 and 24, variances 4 and 16, n 5 each: se = 2, nu = 5.88 -> 5, t = 2.5706.
    a = [18.0, 18.8675, 20.0, 21.1325, 22.0]
    found = welch_difference(a, [v * 2 - 16 for v in a])
    spread = (sum((v - 20) ** 2 for v in a) / 4 / 5 * 5) ** 0.5
    assert found.estimate.mean == pytest.approx(4.0)
    assert found.estimate.high == pytest.approx(4.0 + 2.5706 * spread, abs=2e-3)


def test_a_sure_winner_is_named_with_its_gain() -> None:
    found = answered(runs(legacy=[3.0, 3.2, 3.1], divided=[2.4, 2.6, 2.5]))
    assert found.headline == "divided wins: it takes 19\N{NO-BREAK SPACE}% less time than legacy"
    text = " ".join(found.sentences)
    assert "3 equal seeds" in text
    assert "better in 3 of 3" in text
    assert "excludes zero" in text


def test_an_unsure_lead_is_called_unsure() -> None:
    found = answered(runs(legacy=[3.0, 2.0, 4.0], divided=[2.9, 2.4, 3.0]))
    assert found.headline.startswith("No clear winner")
    assert any("could be chance" in s for s in found.sentences)


def test_one_seed_gives_no_certainty() -> None:
    found = answered(runs(legacy=[3.0], divided=[2.0]))
    assert "in one run" in found.headline
    assert any("Run more seeds" in s for s in found.sentences)


def test_equal_results_are_no_win() -> None:
    found = answered(runs(legacy=[3.0, 3.1], divided=[3.0, 3.1]))
    assert found.headline == "No difference between legacy and divided"


def test_nothing_beats_a_better_baseline() -> None:
    found = answered(runs(legacy=[2.0, 2.1, 2.2], divided=[3.0, 3.1, 3.2]))
    assert found.headline == "Nothing beats legacy"


def test_real_runs_are_not_paired() -> None:
    found = answered(runs("kernel", legacy=[3.0, 3.2, 3.1], divided=[2.4, 2.6, 2.5]), "kernel")
    assert any("unrelated runs" in s for s in found.sentences)


def test_unfinished_runs_are_counted_and_goodput_decides() -> None:
    report = runs(legacy=[3.0, None, 3.1], divided=[2.0, 2.1, 2.2])
    assert any("1 run of 6 did not finish" in s for s in answered(report).sentences)
    rates = report.metrics.with_columns(goodput_bps=pl.Series([1e6, 5e5, 1e6, 2e6, 2e6, 2e6]))
    chosen = replace(report, metrics=rates).primary_metric()
    assert chosen is not None
    assert chosen.column == "goodput_bps"


def test_engines_are_compared_per_variant(both: ReportInput) -> None:
    metric = both.primary_metric()
    assert metric is not None
    rows = agreements(both, metric, "sim", "kernel")
    assert [r.variant for r in rows] == ["legacy", "brute-force 12", "controlled 6"]
    assert all(r.relative is not None and abs(r.relative) < 0.5 for r in rows)


def test_twins_of_the_winner_are_named_as_such() -> None:
    found = answered(runs(reno=[3.0, 3.2, 3.1], sack=[2.4, 2.6, 2.5], cubic=[2.4, 2.6, 2.5]))
    assert "cubic gave exactly the same results as sack." in found.sentences


@pytest.mark.parametrize(
    ("values", "text"),
    [([2.5, 2.9, 2.6], "2.7 (2.1 to 3.2)"), ([20.44, 20.49, 20.54], "20.49 (20.37 to 20.61)")],
)
def test_numbers_are_as_fine_as_their_interval(values: list[float], text: str) -> None:
    metric = METRICS[0]
    found = estimate(values)
    shown = f"{mean(found, metric)} ({interval(found)})".replace("\N{NO-BREAK SPACE}s", "")
    assert shown == text
