"""The report of a reproduction: one page over the runs that matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from lasthop import report
from lasthop.engine import run
from lasthop.errors import LasthopError
from lasthop.reproduce.model import Outcome
from lasthop.reproduce.perform import Selection

if TYPE_CHECKING:
    from lasthop.report import CellKey, ReportInput, Trace
    from lasthop.reproduce.lab import Lab

FAVOURITES = ("ciminieri/table-7.13.toml", "ciminieri/table-7.15.toml")
"""What is drawn when more is selected than fits on one page."""


def write_reproduction(lab: Lab, selections: Sequence[Selection], outcome: Outcome, file: Path) -> Path:
    """Writes the page and returns its path.

    Raises:
        LasthopError: When nothing selected has runs to draw.
    """
    there = list(dict.fromkeys(item.main for part in selections for item in part.items if item.main))
    if not there:
        raise LasthopError("nothing selected has runs that a report could draw")
    chosen = [name for name in FAVOURITES if name in there] or there[:1]
    # The first scenario's variants keep their names; the others' are told apart by their file's.
    prefixes = ["", *(f"{Path(name).stem}: " for name in chosen[1:])]
    drawn = _join([_input(lab, name, prefix) for name, prefix in zip(chosen, prefixes, strict=True)])
    file.parent.mkdir(parents=True, exist_ok=True)
    text = report.render_report(
        replace(
            drawn,
            published=report.published_rows([row.to_dict() for o in outcome.items for row in o.rows]),
            claims=report.claims([claim.to_dict() for claim in outcome.claims]),
            notes=[*drawn.notes, *_notes(lab, selections)],
        )
    )
    file.write_text(text, encoding="utf-8")
    return file


def _notes(lab: Lab, selections: Sequence[Selection]) -> list[str]:
    from lasthop.reproduce.ciminieri_sections import counting_sentence

    return [counting_sentence(lab)] if any(part.source.name == "ciminieri" for part in selections) else []


def _input(lab: Lab, name: str, prefix: str) -> ReportInput:
    """A scenario's report; traces come from runs of single cells, made when they are drawn."""
    scenario = lab.scenario(name)
    made = report.report_of_result(lab.result(name), scenario_text=scenario.text)
    made = replace(made, path=report.path_from_scenario(scenario.text, dict(made.variants[0].parameters)))

    def trace(key: CellKey) -> Trace | None:
        plain = key.variant.removeprefix(prefix)
        single = scenario.set(packets=True, samples="1 ms").with_seeds([key.seed])
        result = run(single, engine=lab.engine, threads=1)
        loader = report.report_of_result(result).load_trace
        return None if loader is None else loader(replace(key, variant=plain))

    return replace(
        made,
        metrics=made.metrics.with_columns(variant=prefix + pl.col("variant")),
        variants=[replace(variant, name=prefix + variant.name) for variant in made.variants],
        load_trace=trace,
    )


def _join(inputs: Sequence[ReportInput]) -> ReportInput:
    """Several scenarios on one page; their variants must have names of their own."""
    first = inputs[0]
    if len(inputs) == 1:
        return first
    owners = {variant.name: made for made in inputs for variant in made.variants}

    def trace(key: CellKey) -> Trace | None:
        loader = owners[key.variant].load_trace
        return None if loader is None else loader(key)

    return replace(
        first,
        title=" · ".join(made.title for made in inputs),
        metrics=pl.concat([made.metrics for made in inputs], how="diagonal_relaxed"),
        variants=[variant for made in inputs for variant in made.variants],
        load_trace=trace,
        scenario_text="\n\n".join(made.scenario_text for made in inputs),
    )
