"""The answer in plain sentences: who wins, by how much, how sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from .intervals import Difference, Estimate, estimate, paired_difference, welch_difference
from .model import Metric, ReportInput
from .numbers import CI, MINUS, difference_interval, interval, mean, percent, plural, shared_decimals
from .numbers import difference as difference_text

SIGNS = f"+{MINUS}"
DIGITS = f"0123456789{MINUS}"


@dataclass(frozen=True)
class Standing:
    """One variant on one engine: its mean and how it differs from the baseline."""

    variant: str
    engine: str
    estimate: Estimate
    values: Sequence[float]
    #: ``None`` for the baseline itself.
    difference: Difference | None
    is_baseline: bool
    is_best: bool = False
    #: Whether its lead over the baseline (or, for the baseline, over its nearest
    #: rival) excludes chance.
    is_sure: bool = False
    #: Digits after the point that every mean beside this one is printed with.
    decimals: int | None = None


@dataclass(frozen=True)
class EngineAnswer:
    """The answer of one engine."""

    engine: str
    headline: str
    sentences: Sequence[str]
    standings: Sequence[Standing]


@dataclass(frozen=True)
class Agreement:
    """One variant's means on two engines."""

    variant: str
    first: Estimate
    second: Estimate
    difference: Difference

    @property
    def relative(self) -> float | None:
        """The second engine's mean over the first's, minus one."""
        return None if not self.first.mean else self.second.mean / self.first.mean - 1


def values_by_seed(metrics: pl.DataFrame, metric: Metric, variant: str, engine: str) -> dict[int, float]:
    """A metric's value for every seed of a variant on an engine; unfinished runs are left out."""
    rows = metrics.filter((pl.col("variant") == variant) & (pl.col("engine") == engine))
    if metric.column not in rows.columns:
        return {}
    found = rows.select("seed", pl.col(metric.column).cast(pl.Float64, strict=False))
    return {int(s): float(v) for s, v in found.iter_rows() if v is not None and v == v}


def _difference(engine: str, base: dict[int, float], own: dict[int, float]) -> Difference:
    """Paired on the simulator, whose seeds mean equal losses; real runs are unrelated."""
    if engine.split(maxsplit=1)[0] == "sim":
        return paired_difference(base, own)
    return welch_difference(list(base.values()), list(own.values()))


def standings(report: ReportInput, metric: Metric, engine: str) -> list[Standing]:
    """Every variant's mean of ``metric`` on ``engine``, in the scenario's order."""
    base_name = report.baseline_name
    base = values_by_seed(report.metrics, metric, base_name, engine)
    rows = []
    for variant in report.variants:
        own = values_by_seed(report.metrics, metric, variant.name, engine)
        if not own:
            continue
        is_base = variant.name == base_name
        rows.append(
            Standing(
                variant.name,
                engine,
                estimate(list(own.values())),
                list(own.values()),
                None if is_base or not base else _difference(engine, base, own),
                is_base,
            )
        )
    decimals = shared_decimals([row.estimate for row in rows], metric.scale)
    rows = [replace(row, decimals=decimals) for row in rows]
    best = best_of(rows, metric)
    if best is None or len(rows) == 1:
        return rows
    rival = best_of([r for r in rows if r is not best], metric) if best.is_baseline else best
    decided = rival.difference if rival is not None else None
    sure = decided is not None and decided.estimate.excludes_zero
    return [replace(row, is_best=True, is_sure=sure) if row is best else row for row in rows]


def best_of(rows: Sequence[Standing], metric: Metric) -> Standing | None:
    """The row with the best mean, or ``None`` when neither way is good."""
    known = [r for r in rows if r.estimate.n > 0]
    if not known or metric.better is None:
        return None
    choose = min if metric.better == "lower" else max
    return choose(known, key=lambda r: r.estimate.mean)


def answer(report: ReportInput, metric: Metric, engine: str) -> EngineAnswer | None:
    """Headline and sentences for one engine; ``None`` when it has no numbers."""
    rows = standings(report, metric, engine)
    if not rows:
        return None
    best = best_of(rows, metric) or rows[0]
    base = next((r for r in rows if r.is_baseline), rows[0])
    if len(rows) == 1:
        headline, sentences = _alone(rows[0], metric)
    elif best is base:
        headline, sentences = _baseline_wins(rows, base, metric)
    else:
        headline, sentences = _winner(best, base, metric)
        runner = _runner_up(report, metric, rows, best, base)
        sentences += [runner] if runner else []
    sentences += _unfinished(report, metric, engine)
    return EngineAnswer(engine, headline, sentences, rows)


def _word(metric: Metric) -> str:
    return metric.label[0].lower() + metric.label[1:]


def _mean_text(row: Standing, metric: Metric) -> str:
    text = mean(row.estimate, metric, row.decimals)
    if row.estimate.known:
        words = interval(row.estimate, metric.scale, row.decimals)
        text += f" ({CI} {words})" if words[0] in DIGITS else f" ({words})"
    return text


def _alone(row: Standing, metric: Metric) -> tuple[str, list[str]]:
    headline = f"{metric.label}: {mean(row.estimate, metric)} with {row.variant}"
    count = plural(row.estimate.n, "run")
    return headline, [
        f"One variant was run, so nothing wins. Its mean {_word(metric)} over {count} is "
        f"{_mean_text(row, metric)}."
    ]


def _gain(best: Standing, base: Standing, metric: Metric) -> str:
    """How much better, in the words that fit the metric."""
    if not base.estimate.mean:
        return f"better than {base.variant}"
    change = best.estimate.mean / base.estimate.mean - 1
    word = "less" if change < 0 else "more"
    if metric.column == "transfer_time_s":
        return f"{percent(abs(change))} less time than {base.variant}"
    if change > 1:
        return f"{change + 1:.1f} times the {_word(metric)} of {base.variant}"
    return f"{percent(abs(change))} {word} {_word(metric)} than {base.variant}"


def _winner(best: Standing, base: Standing, metric: Metric) -> tuple[str, list[str]]:
    difference = best.difference
    assert difference is not None  # best is not the baseline here
    delta = difference.estimate
    sure = delta.excludes_zero
    verb = "takes" if metric.column == "transfer_time_s" else "has"
    if sure:
        headline = f"{best.variant} wins: it {verb} {_gain(best, base, metric)}"
    elif delta.n > 1:
        headline = f"No clear winner: {best.variant} leads, but chance could explain it"
    else:
        headline = f"{best.variant} leads: it {verb} {_gain(best, base, metric)} in one run"
    first = (
        f"{metric.label} with {best.variant}: {_mean_text(best, metric)}; "
        f"with {base.variant}: {_mean_text(base, metric)}."
    )
    return headline, [first, _how_sure(difference, metric)]


def _how_sure(difference: Difference, metric: Metric) -> str:
    delta = difference.estimate
    amount = f"{difference_text(delta, metric.scale)} {metric.unit}".strip()
    if not delta.known:
        return (
            f"The difference is {amount} in one run of each: there is no interval, "
            "and nothing tells it from chance. Run more seeds."
        )
    pairing = (
        f"run for run on {plural(delta.n, 'equal seed')}"
        if difference.paired
        else f"between unrelated runs, at least {delta.n} of each"
    )
    ends = difference_interval(delta, metric.scale)
    sure = f"{CI} {ends}" if ends else "the same in every run"
    text = f"The difference is {amount} ({sure}), {pairing}"
    if difference.paired:
        better = difference.above if metric.better == "higher" else difference.below
        text += f"; it was better in {better} of {delta.n}"
    if delta.excludes_zero:
        return f"{text}. The interval excludes zero, so chance alone does not explain it."
    return f"{text}. The interval includes zero, so this could be chance."


def _baseline_wins(rows: Sequence[Standing], base: Standing, metric: Metric) -> tuple[str, list[str]]:
    rivals = [r for r in rows if r is not base]
    near = best_of(rivals, metric) or rivals[0]
    first = f"{metric.label} with {base.variant}: {_mean_text(base, metric)}."
    if near.difference is None:
        return f"Nothing beats {base.variant}", [first]
    worse = near.difference.estimate
    second = f"{near.variant} comes nearest. {_how_sure(near.difference, metric)}"
    if worse.mean == 0 and worse.n > 0:
        same = [r.variant for r in rivals if r.difference and r.difference.estimate.mean == 0]
        return f"No difference between {_list([base.variant, *same])}", [first, second]
    if worse.excludes_zero:
        return f"Nothing beats {base.variant}", [first, second]
    return f"No clear winner: nothing is surely better than {base.variant}", [first, second]


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _runner_up(
    report: ReportInput,
    metric: Metric,
    rows: Sequence[Standing],
    best: Standing,
    base: Standing,
) -> str | None:
    rivals = [r for r in rows if r is not best and r is not base]
    twins = [r.variant for r in rivals if r.values == best.values]
    if twins:
        return f"{_list(twins)} gave exactly the same results as {best.variant}."
    second = best_of(rivals, metric)
    if second is None:
        return None
    own = values_by_seed(report.metrics, metric, best.variant, best.engine)
    other = values_by_seed(report.metrics, metric, second.variant, best.engine)
    delta = _difference(best.engine, own, other).estimate
    amount = f"{difference_text(delta, metric.scale).lstrip(SIGNS)} {metric.unit}".strip()
    if delta.excludes_zero:
        sure = f"{CI} of the difference {difference_interval(delta, metric.scale)}"
        return f"{second.variant} comes second, {amount} behind ({sure})."
    if delta.known:
        return f"{second.variant} comes second, {amount} behind; that gap could be chance."
    return f"{second.variant} comes second, {amount} behind."


def _unfinished(report: ReportInput, metric: Metric, engine: str) -> list[str]:
    if metric.column != "transfer_time_s":
        return []
    own = report.metrics.filter(pl.col("engine") == engine)
    done = own[metric.column].cast(pl.Float64, strict=False).is_finite().fill_null(False)
    missing = int((~done).sum())
    if missing == 0:
        return []
    return [f"{plural(missing, 'run')} of {len(own)} did not finish and are left out of the means."]


def agreements(report: ReportInput, metric: Metric, first: str, second: str) -> list[Agreement]:
    """The variants that both engines ran."""
    rows = []
    for variant in report.variants:
        a = values_by_seed(report.metrics, metric, variant.name, first)
        b = values_by_seed(report.metrics, metric, variant.name, second)
        if a and b:
            rows.append(
                Agreement(
                    variant.name,
                    estimate(list(a.values())),
                    estimate(list(b.values())),
                    welch_difference(list(a.values()), list(b.values())),
                )
            )
    return rows
