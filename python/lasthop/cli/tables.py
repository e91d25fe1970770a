"""Summaries as tables in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from lasthop.metrics import METRICS
from lasthop.result import Result, Summary
from lasthop.stats import Estimate
from lasthop.units import scale_for, with_interval

MAIN_METRICS = ("goodput_bps", "transfer_time_s", "data_packets", "retransmissions", "timeouts")
"""Shown whenever they have a value."""

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


def summary_table(result: Result, *, every_metric: bool = False) -> Table:
    """One row per variant: mean and half of the 95 % interval of each metric."""
    summary = result.summary()
    flows = result.flows["flow"].n_unique()
    seeds = len(result.seeds)
    table = Table(
        title=f"{result.scenario} · {result.engine} · {seeds} seed{'s' if seeds != 1 else ''}",
        caption="mean ± half of the 95 % confidence interval" if seeds > 1 else None,
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("variant", overflow="fold")
    wanted = METRICS if every_metric else (*MAIN_METRICS, *_EXTRA_METRICS)
    cells: list[list[str]] = []
    for metric in wanted:
        values = _column(summary, metric)
        if not values or not _is_worth_showing(values, metric, flows):
            continue
        largest = max((abs(value.mean) for value in values if value.mean is not None), default=0.0)
        divisor, unit = scale_for(largest, METRICS[metric].unit)
        table.add_column(_heading(metric, unit), justify="right")
        cells.append([with_interval(value.mean, value.half_width, divisor) for value in values])
    for variant, row in zip(summary, zip(*cells, strict=True), strict=True):
        table.add_row(variant, *row)
    return table


def console() -> Console:
    """Where tables go; as wide as they need when nobody looks at a terminal."""
    standard = Console()
    return standard if standard.is_terminal else Console(width=200)
