"""Makes a report's input out of results: in memory, on disk, from several engines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from lasthop.errors import LasthopError
from lasthop.placement import spell
from lasthop.remarks import gaps, late

from .model import CellKey, Claim, PublishedRow, ReportInput, Trace, TraceLoader, Variant
from .path_model import path_from_scenario

if TYPE_CHECKING:
    from lasthop.result import Result

TRACE_TABLES = ("samples", "packets", "mac", "events", "flows", "stations")

TableReader = Callable[[str, str, int], pl.DataFrame | None]


def report_of_result(result: Result, *, engine: str | None = None, **extra: Any) -> ReportInput:
    """The report of one result.

    Args:
        result: What a run gave.
        engine: What to call its engine; its own name when None.
        **extra: Further fields of :class:`ReportInput`, such as ``published``.
    """
    name = engine or result.engine
    text, versions = _origin(result)
    variants = [Variant(v.name, v.parameters) for v in result.variants]
    first = variants[0].parameters if variants else {}
    fields: dict[str, Any] = {
        "title": result.title or result.scenario,
        "metrics": result.metrics().with_columns(engine=pl.lit(name)),
        "variants": variants,
        "scenario_text": text,
        "path": path_from_scenario(text, _shared_or_first(variants, first)),
        "load_trace": _loader({name: _reader(result)}),
        "versions": {"engine": name, **_agents(result), **versions},
        "notes": [f"{name}: {gap}" for gap in [*gaps(result.runs), *late(result.late)]],
    }
    return ReportInput(**{**fields, **extra})


def _agents(result: Result) -> dict[str, str]:
    """As what the agents ran on the Linux stack."""
    lines = spell(result.agents)
    return {"agents": "; ".join(lines)} if lines else {}


def _shared_or_first(variants: Sequence[Variant], first: Mapping[str, str]) -> dict[str, str]:
    """Parameter values for the drawing: where variants differ, the first and the last."""
    shown = {}
    for name, value in first.items():
        values = list(dict.fromkeys(v.parameters.get(name, value) for v in variants))
        mark = " / " if len(values) == 2 else " … "
        shown[name] = value if len(values) == 1 else f"{values[0]}{mark}{values[-1]}"
    return shown


def report_of_directories(directories: Sequence[Path]) -> ReportInput:
    """The report of one or several result directories.

    Those of one scenario stand side by side, as engines do; those of different
    scenarios become experiments of their own.

    Raises:
        StoreError: When a directory holds no results.
        LasthopError: When none is given.
    """
    from lasthop.result import Result

    if not directories:
        raise LasthopError("no result directory given")
    found = [(Result.open(directory), directory) for directory in directories]
    names = dict.fromkeys(result.scenario for result, _ in found)
    reports = []
    for name in names:
        own = [pair for pair in found if pair[0].scenario == name]
        engines = _engine_names([result for result, _ in own], [directory for _, directory in own])
        reports.append(
            merge_reports([report_of_result(r, engine=e) for (r, _), e in zip(own, engines, strict=True)])
        )
    return join_reports(" and ".join(names), [replace(r, tag=n) for r, n in zip(reports, names, strict=True)])


def join_reports(title: str, parts: Sequence[ReportInput]) -> ReportInput:
    """One page for several experiments that are not compared with each other."""
    if len(parts) == 1:
        return parts[0]
    versions = {
        f"{name} ({part.tag})" if any(p.versions.get(name, value) != value for p in parts) else name: value
        for part in parts
        for name, value in part.versions.items()
    }
    return ReportInput(
        title=title,
        metrics=parts[0].metrics.clear(),
        variants=[],
        parts=parts,
        published=[row for part in parts for row in part.published],
        claims=[claim for part in parts for claim in part.claims],
        remarks={name: text for part in parts for name, text in part.remarks.items()},
        versions=versions,
        notes=[note for part in parts for note in part.notes],
    )


def _engine_names(results: Sequence[Result], directories: Sequence[Path]) -> list[str]:
    """Engines by their name; directories' names tell two of one engine apart."""
    engines = [result.engine for result in results]
    if len(set(engines)) == len(engines):
        return engines
    return [f"{e} {d.name}" for e, d in zip(engines, directories, strict=True)]


def merge_reports(reports: Sequence[ReportInput]) -> ReportInput:
    """One report of the same scenario on several engines."""
    first = reports[0]
    if len(reports) == 1:
        return first
    loaders = {engine: r.load_trace for r in reports for engine in r.engines if r.load_trace}
    variants = {v.name: v for r in reversed(reports) for v in r.variants}
    order = dict.fromkeys(v.name for r in reports for v in r.variants)
    versions = {f"{k} ({r.engines[0]})": v for r in reports for k, v in r.versions.items() if r.engines}

    def load(key: CellKey) -> Trace | None:
        loader = loaders.get(key.engine)
        return None if loader is None else loader(key)

    return replace(
        first,
        metrics=pl.concat([r.metrics for r in reports], how="diagonal_relaxed"),
        variants=[variants[name] for name in order],
        load_trace=load,
        traced=[key for r in reports for key in r.traced],
        published=[row for r in reports for row in r.published],
        claims=[claim for r in reports for claim in r.claims],
        versions=versions,
        notes=[note for r in reports for note in r.notes],
    )


def _origin(result: Result) -> tuple[str, dict[str, str]]:
    """Scenario text and versions, from the manifest of a result on disk."""
    if result.path is None:
        return "", {}
    from lasthop.store import Store

    manifest = Store.open(result.path).manifest
    text = manifest.text
    if manifest.overrides:
        text = f"# with {', '.join(manifest.overrides)}\n{text}"
    return text, manifest.versions


def _reader(result: Result) -> TableReader:
    """Reads one table of one cell; from its own file when there is one."""
    if result.path is None:

        def from_memory(table: str, variant: str, seed: int) -> pl.DataFrame | None:
            rows = result.scan(table).filter(pl.col("variant") == variant, pl.col("seed") == seed)
            return rows.collect()

        return from_memory
    from lasthop.store import Store

    store = Store.open(result.path)

    def from_file(table: str, variant: str, seed: int) -> pl.DataFrame | None:
        file = store.cell_directory(variant, seed) / f"{table}.parquet"
        return pl.read_parquet(file, hive_partitioning=False) if file.exists() else None

    return from_file


def _loader(readers: Mapping[str, TableReader]) -> TraceLoader:
    def load(key: CellKey) -> Trace | None:
        reader = readers.get(key.engine)
        if reader is None:
            return None
        tables: dict[str, pl.DataFrame] = {}
        for table in TRACE_TABLES:
            frame = reader(table, key.variant, key.seed)
            if frame is not None and not frame.is_empty():
                tables[table] = frame
        if not tables.keys() & {"samples", "packets", "mac", "stations"}:
            return None
        return Trace(**tables)

    return load


def published_rows(rows: Iterable[Mapping[str, Any]]) -> list[PublishedRow]:
    """The rows of ``reproduce --json`` as the report takes them."""
    return [
        PublishedRow(
            source=str(row["source"]),
            item=str(row["item"]),
            quantity=str(row["quantity"]),
            at=dict(row.get("at") or {}),
            published=float(row["published"]),
            ours=_number(row.get("ours")),
            ci_low=_number(row.get("ci_low")),
            ci_high=_number(row.get("ci_high")),
            n=int(row.get("n") or 0),
            engine=str(row.get("engine") or "sim"),
            verdict=str(row.get("verdict") or ""),
            counts=_counts(row),
        )
        for row in rows
    ]


def _counts(row: Mapping[str, Any]) -> bool:
    spread = str(row["quantity"]).startswith("std")
    return not spread and row.get("verdict") not in ("input", "calibration", "missing")


def claims(rows: Iterable[Mapping[str, Any]]) -> list[Claim]:
    """The claims of ``reproduce --json`` as the report takes them."""
    return [
        Claim(
            source=str(row["source"]),
            claim=str(row["claim"]),
            holds=row.get("holds"),
            evidence=str(row.get("evidence") or ""),
        )
        for row in rows
    ]


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
