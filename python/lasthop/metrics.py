"""What one cell comes to: a few numbers, each defined here once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

Better = Literal["higher", "lower", "neither"]

CELL = ["variant", "seed"]
"""The columns that name a cell."""


@dataclass(frozen=True)
class Metric:
    """One number per cell.

    Attributes:
        name: Column name, with its unit.
        unit: Unit for people; empty for counts and ratios.
        better: Which way is better, if either is.
        meaning: What it is, exactly.
    """

    name: str
    unit: str
    better: Better
    meaning: str


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "goodput_bps",
            "bit/s",
            "higher",
            "Acknowledged payload of all flows (UDP: payload received), in bits, over the time from the "
            "first flow's start to the last flow's end, or to the run's end when a flow is not finished.",
        ),
        Metric(
            "transfer_time_s",
            "s",
            "lower",
            "Mean over the finished flows of the time from start to the last byte; none when no "
            "flow finished.",
        ),
        Metric("completed_flows", "", "higher", "Flows that delivered everything they had to."),
        Metric("data_packets", "", "neither", "Segments with payload sent, retransmissions included."),
        Metric("retransmissions", "", "lower", "Segments with payload sent again."),
        Metric("timeouts", "", "lower", "Retransmission timeouts."),
        Metric(
            "fast_retransmits",
            "",
            "lower",
            "Recoveries entered by duplicate ACKs, SACK or RACK, not by timeout.",
        ),
        Metric("cwnd_cuts", "", "lower", "Reductions of the congestion window."),
        Metric("acks_sent", "", "neither", "ACKs without payload sent by the receivers' own stacks."),
        Metric("divided_acks", "", "neither", "Further ACKs that agents made by dividing them."),
        Metric(
            "jain_fairness",
            "",
            "higher",
            "Jain's index of the flows' goodputs: 1 when all are equal, 1/n when one has everything.",
        ),
        Metric(
            "data_airtime_share", "", "neither", "Share of the run the medium carried frames with payload."
        ),
        Metric("ack_airtime_share", "", "lower", "Share of the run the medium carried transport ACKs."),
        Metric("collision_airtime_share", "", "lower", "Share of the run lost in collisions on the medium."),
        Metric(
            "mac_collisions", "", "lower", "Attempts at the medium that collided, summed over transmitters."
        ),
        Metric("mac_retries", "", "lower", "Further attempts at the medium, summed over transmitters."),
    )
}
"""Every metric by name."""

_SUMS = (
    "data_packets",
    "retransmissions",
    "timeouts",
    "fast_retransmits",
    "cwnd_cuts",
    "acks_sent",
    "divided_acks",
)


def _known_sum(column: str) -> pl.Expr:
    """The sum over a cell's flows; none when one of them is not known."""
    return pl.when(pl.col(column).null_count() == 0).then(pl.col(column).sum()).alias(column)


def _jain() -> pl.Expr:
    rate = pl.col("goodput_bps")
    squares = (rate * rate).sum()
    known = rate.null_count() == 0
    return pl.when(known & (squares > 0)).then(rate.sum() ** 2 / (pl.len() * squares)).alias("jain_fairness")


def _flow_metrics(flows: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """Metrics of a cell's flows."""
    finished = pl.col("end_s").is_not_null()
    end = pl.when(finished.all()).then(pl.col("end_s").max()).otherwise(pl.col("run_s").first())
    seconds = end - pl.col("start_s").min()
    payload_bits = _known_sum("acked_bytes") * 8.0
    return (
        flows.join(runs.select(*CELL, "run_s"), on=CELL, maintain_order="left")
        .group_by(CELL, maintain_order=True)
        .agg(
            pl.when(seconds > 0).then(payload_bits / seconds).alias("goodput_bps"),
            pl.col("transfer_time_s").mean(),
            finished.sum().alias("completed_flows"),
            *[_known_sum(name) for name in _SUMS],
            _jain(),
        )
    )


def _airtime_metrics(stations: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """Metrics of a cell's medium; no row for cells without one."""
    run_time = pl.col("run_s").first()

    def share(column: str) -> pl.Expr:
        return (pl.col(column).sum() / run_time).alias(column.replace("_s", "_share"))

    return (
        stations.join(runs.select(*CELL, "run_s"), on=CELL, maintain_order="left")
        .group_by(CELL, maintain_order=True)
        .agg(
            share("data_airtime_s"),
            share("ack_airtime_s"),
            share("collision_airtime_s"),
            pl.col("collisions").sum().alias("mac_collisions"),
            pl.col("retries").sum().alias("mac_retries"),
        )
    )


def cell_metrics(runs: pl.DataFrame, flows: pl.DataFrame, stations: pl.DataFrame) -> pl.DataFrame:
    """One row per cell: variant, seed, engine and every metric that applies.

    Metrics of the medium are left out when no cell has one. A run in real time
    that was late beyond its bound has no value: it must not be averaged in.
    """
    frame = runs.select(*CELL, "engine").join(
        _flow_metrics(flows, runs), on=CELL, how="left", maintain_order="left"
    )
    if stations.height:
        frame = frame.join(_airtime_metrics(stations, runs), on=CELL, how="left", maintain_order="left")
    if "valid" not in runs.columns:
        return frame
    values = [name for name in frame.columns if name in METRICS]
    frame = frame.join(runs.select(*CELL, "valid"), on=CELL, how="left", maintain_order="left")
    counts = pl.col("valid").ne_missing(0)
    return frame.with_columns(pl.when(counts).then(pl.col(name)).alias(name) for name in values).drop("valid")
