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
from lasthop.reproduce.testbed import handover_throughput

if TYPE_CHECKING:
    from lasthop.report import CellKey, ReportInput, Trace
    from lasthop.reproduce.lab import Lab
    from lasthop.result import Result

FAVOURITES = ("ciminieri/table-7.13.toml", "ciminieri/table-7.15.toml")
"""What is drawn when more is selected than fits on one page."""

MOST_EXPERIMENTS = 3

HANDOVER_METRICS = (
    report.Metric("before_handover_mibps", "Throughput before the handover", "Mibit/s", "higher"),
    report.Metric("after_handover_mibps", "Throughput after the handover", "Mibit/s", "higher"),
)


def write_reproduction(lab: Lab, selections: Sequence[Selection], outcome: Outcome, file: Path) -> Path:
    """Writes the page and returns its path.

    Raises:
        LasthopError: When nothing selected has runs to draw.
    """
    there = list(dict.fromkeys(item.main for part in selections for item in part.items if item.main))
    if not there:
        raise LasthopError("nothing selected has runs that a report could draw")
    chosen = there
    if len(there) > MOST_EXPERIMENTS:
        chosen = [name for name in FAVOURITES if name in there] or there[:MOST_EXPERIMENTS]
    parts = [part for name in chosen for part in _by_buffer(_input(lab, name))]
    drawn = report.join_reports(_title(chosen), parts)
    file.parent.mkdir(parents=True, exist_ok=True)
    text = report.render_report(
        replace(
            drawn,
            summary="; ".join(part.source.title for part in selections) + ".",
            published=report.published_rows([row.to_dict() for o in outcome.items for row in o.rows]),
            claims=report.claims([claim.to_dict() for claim in outcome.claims]),
            remarks={f"{o.source}/{o.item.name}": o.item.cause for o in outcome.items if o.item.cause},
            notes=[*drawn.notes, *_notes(lab, selections)],
        )
    )
    file.write_text(text, encoding="utf-8")
    return file


def _title(names: Sequence[str]) -> str:
    """What is drawn, by source: ``Ciminieri: table 7.13 and table 7.15``."""
    sources = list(dict.fromkeys(Path(name).parent.name for name in names))
    return "; ".join(
        f"{source.replace('-', ' ').title()}: "
        + " and ".join(_tag(name).lower() for name in names if Path(name).parent.name == source)
        for source in sources
    )


def _tag(name: str) -> str:
    """``Table 7.13`` of ``ciminieri/table-7.13.toml``."""
    return Path(name).stem.replace("-", " ").capitalize()


def _notes(lab: Lab, selections: Sequence[Selection]) -> list[str]:
    from lasthop.reproduce.ciminieri_sections import counting_sentence

    return [counting_sentence(lab)] if any(part.source.name == "ciminieri" for part in selections) else []


def _input(lab: Lab, name: str) -> ReportInput:
    """A scenario's report; traces come from runs of single cells, made when they are drawn."""
    scenario = lab.scenario(name)
    result = lab.result(name)
    made = report.report_of_result(result, scenario_text=scenario.text)
    made = replace(
        made,
        tag=_tag(name),
        path=report.path_from_scenario(scenario.text, dict(made.variants[0].parameters)),
    )

    def trace(key: CellKey) -> Trace | None:
        single = scenario.set(packets=True, samples="1 ms").with_seeds([key.seed])
        loader = report.report_of_result(run(single, engine=lab.engine, threads=1)).load_trace
        return None if loader is None else loader(key)

    made = replace(made, load_trace=trace)
    return _with_handover(made, result) if "leaves" in made.variants[0].parameters else made


def _by_buffer(made: ReportInput) -> list[ReportInput]:
    """One experiment per receive buffer where a scenario mixes both, so that modes are compared alone."""
    # A variant of the handover's scenario is named by its mode and its buffer.
    if not made.primary:
        return [made]
    sizes = dict.fromkeys(variant.name.rpartition(" ")[2] for variant in made.variants)
    parts = []
    for size in sizes:
        own = [variant for variant in made.variants if variant.name.endswith(f" {size}")]
        parts.append(
            replace(
                made,
                tag=f"{made.tag}, {size} buffer",
                variants=own,
                metrics=made.metrics.filter(pl.col("variant").is_in([variant.name for variant in own])),
            )
        )
    return parts


def _with_handover(made: ReportInput, result: Result) -> ReportInput:
    """Throughput before and after the handover, which is what these runs are judged by."""
    columns = ("variant", "seed", *(metric.column for metric in HANDOVER_METRICS))
    rows = [
        dict(zip(columns, (variant.name, *values), strict=True))
        for variant in result.variants
        for values in zip(result.seeds, *handover_throughput(result, variant.name), strict=True)
    ]
    types = {column: made.metrics.schema.get(column, pl.Float64()) for column in columns}
    return replace(
        made,
        metrics=made.metrics.join(pl.DataFrame(rows, schema=types), on=["variant", "seed"], how="left"),
        own_metrics=HANDOVER_METRICS,
        primary=[metric.column for metric in HANDOVER_METRICS],
        summary="The radio goes down in the middle of the transfer, so the time a transfer takes says "
        "little: compared are the throughputs before it leaves and after it is back. The source's "
        "Mbit/s are 2^20 bit/s, written Mibit/s here.",
    )
