"""Takes from runs what sources print: one value per seed."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from lasthop.result import Result

SMSS = 1448
"""Payload of a full segment with timestamps; the sources count windows in it."""

PerSeed = list[float | None]


def by_seed(result: Result, frame: pl.DataFrame, column: str) -> PerSeed:
    """A column of a frame with one row per seed, in the order of the seeds."""
    values = dict(frame.select("seed", column).iter_rows())
    return [values.get(seed) for seed in result.seeds]


def of_variant(result: Result, table: str, variant: str) -> pl.LazyFrame:
    """One variant's rows of a table."""
    return result.scan(table).filter(pl.col("variant") == variant)


def transfer_times(result: Result, variant: str) -> PerSeed:
    """Seconds from the SYN to the last byte."""
    return result.values(variant, "transfer_time_s")


def bytes_by(result: Result, variant: str, times: Sequence[float]) -> list[PerSeed]:
    """Payload bytes that had reached the client by each time, each byte once."""
    received = of_variant(result, "packets", variant).filter(
        pl.col("place") == "client", pl.col("verdict") == "received", pl.col("length_bytes") > 0
    )
    end = pl.col("seq_bytes") + pl.col("length_bytes")
    # Nothing is lost in these runs before these times; with losses the highest
    # byte is what a sequence plot shows as well.
    sums = [end.filter(pl.col("t_s") <= time).max().fill_null(0).alias(f"{time}") for time in times]
    frame = received.group_by("seed").agg(sums).collect()
    return [by_seed(result, frame, f"{time}") for time in times]


def packets_sent(result: Result, variant: str, start: float, end: float | None) -> PerSeed:
    """Data packets the server sent from ``start`` to ``end``."""
    sent = of_variant(result, "packets", variant).filter(
        pl.col("place") == "server", pl.col("verdict") == "sent", pl.col("length_bytes") > 0
    )
    inside = (pl.col("t_s") >= start) & (pl.col("t_s") < (float("inf") if end is None else end))
    frame = sent.group_by("seed").agg(inside.sum().alias("packets")).collect()
    return by_seed(result, frame, "packets")


def cwnd_at_end(result: Result, variant: str, end: float | None) -> PerSeed:
    """The congestion window in segments when the last ACK before ``end`` arrived, as tcp_probe logs it.

    tcp_probe writes the window down before the ACK is processed, so this is
    the state the ACK before left behind.
    """
    samples = of_variant(result, "samples", variant)
    if end is not None:
        samples = samples.filter(pl.col("t_s") < end)
    before = pl.col("cwnd_bytes").tail(2).first() / SMSS
    frame = samples.group_by("seed", maintain_order=True).agg(before.alias("cwnd")).collect()
    return by_seed(result, frame, "cwnd")


def rwnd_at_end(result: Result, variant: str, end: float | None) -> PerSeed:
    """The window the client announced last before ``end``, in segments."""
    samples = of_variant(result, "samples", variant)
    if end is not None:
        samples = samples.filter(pl.col("t_s") < end)
    last = (pl.col("rwnd_bytes").last() / SMSS).floor()
    frame = samples.group_by("seed", maintain_order=True).agg(last.alias("rwnd")).collect()
    return by_seed(result, frame, "rwnd")


def acks_per_bin(result: Result, variant: str, width: float, last: float) -> list[PerSeed]:
    """ACKs that came over the uplink in each bin of ``width`` seconds up to ``last``.

    Counted at the server, where divided ACKs have passed the client's agent;
    these scenarios delay the downlink only, so the uplink shows when they left the air.
    """
    acks = of_variant(result, "packets", variant).filter(
        pl.col("place") == "server",
        pl.col("verdict") == "received",
        pl.col("length_bytes") == 0,
        pl.col("flags") == ".",
    )
    bins = [
        ((pl.col("t_s") >= k * width) & (pl.col("t_s") < (k + 1) * width)).sum().alias(f"{k}")
        for k in range(round(last / width))
    ]
    frame = acks.group_by("seed").agg(bins).collect()
    return [by_seed(result, frame, f"{k}") for k in range(len(bins))]


def bytes_per_ack(result: Result, variant: str) -> pl.DataFrame:
    """Bytes each full ACK acknowledged anew: ``seed``, ``bytes``.

    Taken where the client's stack sends them, before its agent divides them.
    """
    acks = (
        of_variant(result, "packets", variant)
        .filter(
            pl.col("place") == "client",
            pl.col("verdict") == "sent",
            pl.col("length_bytes") == 0,
            pl.col("ack_bytes") > 0,
        )
        .select("seed", "t_s", "ack_bytes")
        .group_by("seed", "t_s", maintain_order=True)
        .agg(pl.col("ack_bytes").max())
        .collect()
    )
    step = (pl.col("ack_bytes") - pl.col("ack_bytes").shift(1, fill_value=0).over("seed")).cast(pl.Float64)
    return acks.with_columns(step.alias("bytes")).filter(pl.col("bytes") > 0).select("seed", "bytes")


def sizes(result: Result, variant: str) -> list[tuple[int, int]]:
    """Bytes of the only flow by seed."""
    frame = of_variant(result, "flows", variant).select("seed", "bytes").collect()
    return [(int(seed), int(size)) for seed, size in frame.iter_rows()]
