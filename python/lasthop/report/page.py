"""Puts a report together: one HTML file that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from lasthop.errors import LasthopError

from . import payload
from .diagram import describe_path, draw_path
from .load import report_of_directories
from .model import Metric, PublishedRow, ReportInput
from .numbers import (
    decimals_of,
    difference,
    difference_interval,
    fixed,
    interval,
    mean,
    number,
    percent,
    plural,
    shared_decimals,
)
from .path_model import PathDescription
from .summary import Agreement, EngineAnswer, Standing, agreements, answer, standings

View = dict[str, Any]

GOOD = ("agree", "ok", "pass", "holds", "within")
BAD = ("disagree", "fail", "off", "outside", "differs", "contradict")


def write_report(source: ReportInput | Path | Sequence[Path], file: Path | None = None) -> Path:
    """Writes a report and returns its file.

    Args:
        source: What to show; or one or several result directories.
        file: Where; ``report.html`` in the first result directory when None.

    Raises:
        LasthopError: When a directory holds no results or the file cannot be written.
    """
    if isinstance(source, ReportInput):
        report, target = source, file or Path("report.html")
    else:
        directories = [source] if isinstance(source, Path) else list(source)
        report = report_of_directories(directories)
        target = file or directories[0] / "report.html"
    try:
        target.write_text(render_report(report), encoding="utf-8")
    except OSError as error:
        raise LasthopError(f"{target}: cannot be written: {error.strerror}") from None
    return target


def render_report(report: ReportInput) -> str:
    """The report as one HTML text: style, script, library and data inlined."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("lasthop.report"),
        autoescape=jinja2.select_autoescape(["html.j2"], default=True),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("report.html.j2").render(view(report))


def view(report: ReportInput) -> View:
    """Everything the template prints, already worded."""
    drawn, trace_notes = payload.all_series(report)
    spread = payload.all_distributions(report)
    parts = [_part_view(part) for part in report.experiments]
    data = {
        "series": drawn,
        "distributions": spread,
        "parts": [_part_data(part) for part in report.experiments],
        "engines": report.engines,
        "published": [_point(r) for r in report.published if r.ours is not None and r.counts],
    }
    return {
        "title": report.title,
        "engines": report.engines,
        "summary": report.summary,
        "notes": report.notes,
        "parts": parts,
        "paths": _path_views(report),
        "series": drawn,
        "trace_notes": trace_notes,
        "has": {
            k: any(s.get(k) is not None for s in drawn)
            for k in ("sequence", "window", "acks", "airtime", "medium")
        },
        "distributions": spread,
        "published": published_view(report.published, report.remarks),
        "published_line": published_sentence(report.published),
        "claims": [_claim_view(c.holds) | {"claim": c} for c in report.claims],
        "versions": report.versions,
        "script": _ready(_asset("report.js")),
        "style": _ready(_asset("report.css")),
        "plotly": _ready(get_plotlyjs()) if drawn or spread or data["published"] else "",
        "data": _ready(_json(data)),
    }


def _part_view(part: ReportInput) -> View:
    """One experiment: its answers, its tables, its scenario."""
    metrics = part.primary_metrics()
    found = [(m, a) for m in metrics for e in part.engines if (a := answer(part, m, e))]
    return {
        "tag": part.tag,
        "title": part.title,
        "summary": part.summary,
        "answers": [_answer_view(a, m) for m, a in found],
        "agreements": [view for m in metrics if (view := _agreement_view(part, m))],
        "metrics_table": _metrics_table(part),
        "variants": part.variants,
        "varying": _varying(part),
        "constant": _constant(part),
        "scenario": part.scenario_text,
    }


def _part_data(part: ReportInput) -> View:
    """What the script must know of an experiment: which two runs to show first."""
    metric = part.primary_metric()
    rows = [s for e in part.engines if metric for s in standings(part, metric, e)]
    return {
        "tag": part.tag or part.title,
        "baseline": part.baseline_name,
        "best": next((s.variant for s in rows if s.is_best), None),
    }


def _ready(text: str) -> Markup:
    """Text of our own making, already escaped where it must be."""
    return Markup(text)  # noqa: S704


def _asset(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def _json(data: Mapping[str, Any]) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _answer_view(answer: EngineAnswer, metric: Metric) -> View:
    low, high = _bounds(answer.standings)
    return {
        "engine": answer.engine,
        "metric": metric,
        "headline": answer.headline,
        "sentences": answer.sentences,
        "rows": [_standing_view(s, metric, low, high) for s in answer.standings],
        "many": len(answer.standings) > 1,
    }


def _bounds(rows: tuple[Standing, ...] | list[Standing] | Any) -> tuple[float, float]:
    """The range the little interval bars share, a bit wider than the data."""
    lows = [r.estimate.low if r.estimate.low is not None else r.estimate.mean for r in rows]
    highs = [r.estimate.high if r.estimate.high is not None else r.estimate.mean for r in rows]
    low, high = min(lows), max(highs)
    pad = (high - low) * 0.08 or abs(high) * 0.1 or 1.0
    return low - pad, high + pad


def _standing_view(row: Standing, metric: Metric, low: float, high: float) -> View:
    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    own = row.estimate
    left = place(own.low if own.low is not None else own.mean)
    right = place(own.high if own.high is not None else own.mean)
    return {
        "name": row.variant,
        "best": row.is_best,
        "sure": row.is_sure,
        "baseline": row.is_baseline,
        "mean": mean(own, metric, row.decimals),
        "interval": interval(own, metric.scale, row.decimals) if own.known else "one run",
        "n": own.n,
        "left": left,
        "width": round(right - left, 2),
        "dot": place(own.mean),
        "difference": _difference_view(row, metric),
    }


def _difference_view(row: Standing, metric: Metric) -> View | None:
    if row.difference is None or row.difference.estimate.n == 0:
        return None
    delta = row.difference.estimate
    good = (delta.mean < 0) == (metric.better == "lower") if delta.excludes_zero else None
    return {
        "amount": difference(delta, metric.scale, row.decimals),
        "interval": difference_interval(delta, metric.scale, row.decimals),
        "kind": "unsure" if good is None else "better" if good else "worse",
    }


def _agreement_view(report: ReportInput, metric: Metric) -> View | None:
    """Two engines side by side, variant by variant."""
    if len(report.engines) != 2:
        return None
    first, second = report.engines
    rows = agreements(report, metric, first, second)
    if not rows:
        return None
    decimals = shared_decimals([e for r in rows for e in (r.first, r.second)], metric.scale)
    relative = sorted(abs(r.relative) for r in rows if r.relative is not None)
    middle = (
        relative[len(relative) // 2]
        if len(relative) % 2
        else ((relative[len(relative) // 2 - 1] + relative[len(relative) // 2]) / 2 if relative else 0.0)
    )
    return {
        "first": first,
        "second": second,
        "sentence": f"{second} differs from {first} by {percent(middle)} in the median "
        f"of {plural(len(rows), 'variant')}.",
        "rows": [_agreement_row(r, metric, decimals) for r in rows],
    }


def _agreement_row(row: Agreement, metric: Metric, decimals: int | None) -> View:
    return {
        "name": row.variant,
        "first": mean(row.first, metric, decimals),
        "first_ci": interval(row.first, metric.scale, decimals) if row.first.known else "one run",
        "second": mean(row.second, metric, decimals),
        "second_ci": interval(row.second, metric.scale, decimals) if row.second.known else "one run",
        "relative": "–"
        if row.relative is None
        else ("+" if row.relative > 0 else "") + percent(row.relative).replace("-", "\N{MINUS SIGN}"),
        "sure": row.difference.estimate.excludes_zero,
    }


def _path_views(report: ReportInput) -> list[View]:
    """The path of every experiment; those that are alike once, with all their tags."""
    paths = {part.tag: part.path for part in report.experiments if part.path is not None}
    tags: dict[str, list[str]] = {}
    for tag, path in paths.items():
        tags.setdefault(draw_path(path), []).append(tag)
    return [_path_view(path, " and ".join(own)) for own in tags.values() if (path := paths[own[0]])]


def _path_view(path: PathDescription, tag: str) -> View:
    return {
        "tag": tag,
        "wide": _ready(draw_path(path, "horizontal")),
        "narrow": _ready(draw_path(path, "vertical")),
        "text": describe_path(path),
    }


def _metrics_table(report: ReportInput) -> View | None:
    metrics = report.available_metrics()
    if not metrics:
        return None
    rows: dict[tuple[str, str], list[str]] = {}
    for metric in metrics:
        for engine in report.engines:
            for row in standings(report, metric, engine):
                cells = rows.setdefault((row.variant, engine), [""] * len(metrics))
                decimals = decimals_of(row.estimate, metric.scale)
                text = fixed(row.estimate.mean * metric.scale, decimals)
                if decimals is not None and row.estimate.high is not None:
                    half = (row.estimate.high - row.estimate.mean) * metric.scale
                    text += f" ± {fixed(half, decimals)}"
                cells[metrics.index(metric)] = text
    return {
        "heads": [m.label + (f" ({m.unit})" if m.unit and m.unit != "packets" else "") for m in metrics],
        "rows": [{"name": k[0], "engine": k[1], "cells": v} for k, v in rows.items()],
    }


def _varying(report: ReportInput) -> list[str]:
    """Parameters in which the variants differ."""
    names = dict.fromkeys(n for v in report.variants for n in v.parameters)
    return [n for n in names if len({v.parameters.get(n) for v in report.variants}) > 1]


def _constant(report: ReportInput) -> dict[str, str]:
    """Parameters that every variant shares."""
    differing = set(_varying(report))
    first = report.variants[0].parameters if report.variants else {}
    return {name: value for name, value in first.items() if name not in differing}


def verdict_kind(verdict: str) -> str:
    """``good``, ``bad`` or ``neutral``, from the verdict's first word."""
    word = verdict.lower()
    if word.startswith(BAD) or word.startswith("not "):
        return "bad"
    return "good" if word.startswith(GOOD) else "neutral"


def _claim_view(holds: bool | None) -> View:
    if holds is None:
        return {"kind": "neutral", "word": "undecided"}
    return {"kind": "good", "word": "holds"} if holds else {"kind": "bad", "word": "does not hold"}


def _at_text(at: Mapping[str, object]) -> str:
    return ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in at.items())


def _point(row: PublishedRow) -> View:
    return {
        "label": f"{row.source} {row.item}: {row.quantity}, {_at_text(row.at)}",
        "published": row.published,
        "ours": row.ours,
        "low": row.ci_low,
        "high": row.ci_high,
        "kind": verdict_kind(row.verdict),
        "engine": row.engine,
    }


def published_view(rows: Sequence[PublishedRow], remarks: Mapping[str, str]) -> list[View]:
    """The published numbers beside ours, grouped by source and item."""
    groups = []
    for (source, item), members in groupby(rows, key=lambda r: (r.source, r.item)):
        own = list(members)
        groups.append(
            {
                "source": source,
                "item": item,
                "line": published_sentence(own),
                "remark": remarks.get(f"{source}/{item}", ""),
                "rows": [_published_row(r) for r in own],
            }
        )
    return groups


def _published_row(row: PublishedRow) -> View:
    ratio = row.ours / row.published if row.ours is not None and row.published else None
    text = "–"
    if row.ci_low is not None and row.ci_high is not None:
        text = f"{number(row.ci_low)} to {number(row.ci_high)}"
    return {
        "at": _at_text(row.at),
        "quantity": row.quantity,
        "published": number(row.published),
        "ours": number(row.ours),
        "interval": text,
        "ratio": number(ratio),
        "n": row.n,
        "engine": row.engine,
        "verdict": row.verdict,
        "kind": verdict_kind(row.verdict),
    }


def published_sentence(rows: Sequence[PublishedRow]) -> str:
    """How far we are from the published numbers, in one sentence."""
    errors = sorted(
        abs(r.ours / r.published - 1) for r in rows if r.counts and r.ours is not None and r.published
    )
    if not errors:
        return ""
    half = len(errors) // 2
    middle = errors[half] if len(errors) % 2 else (errors[half - 1] + errors[half]) / 2
    near = sum(e <= 0.15 for e in errors)
    return (
        f"Median distance from the published value: {percent(middle)}; "
        f"{near} of {plural(len(errors), 'number')} within 15\N{NO-BREAK SPACE}%."
    )
