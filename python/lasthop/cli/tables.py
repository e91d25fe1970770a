"""Summaries as tables in the terminal."""

from __future__ import annotations

import os

from rich.console import Console
from rich.table import Table

from lasthop.metrics import METRICS
from lasthop.placement import spell
from lasthop.remarks import gaps, late
from lasthop.result import Result, Summary
from lasthop.stats import Estimate
from lasthop.units import scale_for, with_interval

MAIN_METRICS = ("goodput_bps", "transfer_time_s", "data_packets", "retransmissions", "timeouts")
"""Shown whenever they have a value."""

SHOWN_FAILURES = 10
"""Failed programs that are told one by one."""

_EXTRA_METRICS = ("divided_acks", "jain_fairness", "ack_airtime_share", "mac_collisions")


def _column(summary: Summary, metric: str) -> list[Estimate]:
    return [metrics[metric] for metrics in summary.values() if metric in metrics]


def _is_worth_showing(values: list[Estimate], metric: str, flows: int) -> bool:
    if metric == "jain_fairness":
        return flows > 1
    if metric in MAIN_METRICS:
        return any(value.mean is not None for value in values)
    return any(value.mean for value in values)


def _heading(metric: str, unit: str) -> str:
    name = metric.removesuffix("_bps").removesuffix("_s").replace("_", " ")
    return f"{name}\n{unit}" if unit else name


def summary_table(result: Result, *, every_metric: bool = False, width: int | None = None) -> Table:
    """Mean and half of the 95 % interval of each metric.

    One row per variant; one row per metric where that would be too wide.

    Args:
        result: What to sum up.
        every_metric: Also those that matter less.
        width: How many characters there are; as many as needed when None.
    """
    summary = result.summary()
    flows = result.flows["flow"].n_unique()
    columns: list[list[str]] = []
    wanted = METRICS if every_metric else (*MAIN_METRICS, *_EXTRA_METRICS)
    for metric in wanted:
        values = _column(summary, metric)
        if not values or not _is_worth_showing(values, metric, flows):
            continue
        largest = max((abs(value.mean) for value in values if value.mean is not None), default=0.0)
        divisor, unit = scale_for(largest, METRICS[metric].unit)
        cells = [with_interval(value.mean, value.half_width, divisor) for value in values]
        columns.append([_heading(metric, unit), *cells])
    by_variant = [["variant", *summary], *columns]
    if width is None or _width(by_variant) <= width:
        return _table(result, by_variant)
    by_metric = [list(line) for line in zip(*by_variant, strict=True)]
    by_metric[0] = ["metric", *(heading.replace("\n", ", ") for heading in by_metric[0][1:])]
    return _table(result, min((by_metric, by_variant), key=_width))


def _width(columns: list[list[str]]) -> int:
    """Characters that a table of these columns takes: text, padding, lines."""
    return 1 + sum(3 + max(len(line) for cell in column for line in cell.split("\n")) for column in columns)


def _table(result: Result, columns: list[list[str]]) -> Table:
    """A table of columns that begin with their headings; the first holds names."""
    seeds = len(result.seeds)
    table = Table(
        title=f"{result.scenario} · {result.engine} · {seeds} seed{'s' if seeds != 1 else ''}",
        caption="mean ± half of the 95 % confidence interval" if seeds > 1 else None,
        title_justify="left",
        caption_justify="left",
    )
    for index, column in enumerate(columns):
        table.add_column(column[0], justify="right" if index else "left", overflow="fold")
    for cells in zip(*(column[1:] for column in columns), strict=True):
        table.add_row(*cells)
    return table


def remarks(result: Result) -> list[str]:
    """What a reader of the table should know: how agents ran, what is missing, what failed."""
    lines = [*spell(result.agents), *gaps(result.runs), *late(result.late)]
    lines += [failure.spell() for failure in result.failures[:SHOWN_FAILURES]]
    more = len(result.failures) - SHOWN_FAILURES
    if more > 0:
        lines.append(f"and {more} more failed")
    return lines


def console() -> Console:
    """Where tables go; as wide as they need when nobody looks at a terminal, unless COLUMNS says."""
    standard = Console()
    return standard if standard.is_terminal or "COLUMNS" in os.environ else Console(width=200)
