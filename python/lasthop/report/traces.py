"""Turns the tables of one cell into the few arrays a plot needs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .model import Trace

Floats = NDArray[np.float64]

#: Bytes per unit of the sequence and window axes.
KILOBYTE = 1000.0
#: Frames up to this size carry no data segment worth the name: TCP ACKs.
ACK_FRAME_BYTES = 160

#: Less than this share of the time is not worth a colour of its own.
NOTABLE = 0.001
#: More transmitters than this are drawn as one, the access point apart.
MOST_STATIONS = 4
#: A limit more than this many times above the curves is not drawn.
FAR = 4.0

DROPS = ("queue-full", "error", "retry-limit", "link-down", "agent")


@dataclass(frozen=True)
class Sequence:
    """A time-sequence diagram in the manner of tcptrace; times in s, rest in kB."""

    data_t: Floats
    data_low: Floats
    data_high: Floats
    again_t: Floats
    again_low: Floats
    again_high: Floats
    ack_t: Floats
    ack: Floats
    edge_t: Floats
    edge: Floats
    drop_t: Floats
    drop: Floats
    drop_why: list[str]


@dataclass(frozen=True)
class Progress:
    """Where a stream stood at each sample; what is left of a sequence diagram without packets."""

    t: Floats
    acked: Floats
    sent: Floats
    edge: Floats


@dataclass(frozen=True)
class Window:
    """The sender's state at its ACKs; times in s, windows in kB (NaN is unset)."""

    t: Floats
    cwnd: Floats
    ssthresh: Floats
    rwnd: Floats
    flight: Floats


@dataclass(frozen=True)
class AckRate:
    """ACKs per second that reach the sender, in bins, by what they acknowledge."""

    bin_s: float
    t: Floats
    full: Floats
    divided: Floats
    duplicate: Floats


@dataclass(frozen=True)
class AirtimeLayer:
    """One kind of use of the medium by one station: share of each bin, 0..1."""

    name: str
    kind: str
    station: int
    share: Floats
    total_s: float


@dataclass(frozen=True)
class Airtime:
    """Who used the medium when."""

    bin_s: float
    t: Floats
    layers: list[AirtimeLayer] = field(default_factory=list)
    span_s: float = 0.0


def main_flow(trace: Trace) -> int | None:
    """The flow to draw: the one that moved most bytes, the first of equals."""
    packets = trace.packets
    if packets is not None and not packets.is_empty():
        moved = packets.group_by("flow").agg(pl.col("length_bytes").sum()).sort("flow")
        return int(moved["flow"].gather(moved["length_bytes"].arg_max() or 0)[0])
    samples = trace.samples
    if samples is not None and not samples.is_empty():
        moved = samples.group_by("flow").agg(pl.col("snd_una_bytes").max()).sort("flow")
        return int(moved["flow"].gather(moved["snd_una_bytes"].arg_max() or 0)[0])
    return None


def flow_count(trace: Trace) -> int:
    """How many flows the cell's tables hold."""
    frame = trace.packets if trace.packets is not None else trace.samples
    return 0 if frame is None else frame["flow"].n_unique()


def _strings(frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
    return frame.with_columns(pl.col(c).cast(pl.String) for c in columns if c in frame.columns)


def _column(frame: pl.DataFrame, name: str) -> Floats:
    return np.asarray(frame[name].cast(pl.Float64).to_numpy(), dtype=np.float64)


def sender_side(packets: pl.DataFrame) -> tuple[str, str]:
    """Where the data enters the path and which way it goes: (place, direction)."""
    sent = packets.filter(pl.col("verdict") == "sent")
    down = sent.filter(pl.col("direction") == "downlink")["length_bytes"].sum() or 0
    up = sent.filter(pl.col("direction") == "uplink")["length_bytes"].sum() or 0
    return ("server", "downlink") if down >= up else ("client", "uplink")


def sequence(trace: Trace, flow: int) -> Sequence | None:
    """What the data's sender sent and saw, as tcptrace would draw it there."""
    if trace.packets is None:
        return None
    packets = _strings(trace.packets, "place", "direction", "verdict").filter(pl.col("flow") == flow)
    if packets.is_empty():
        return None
    place, forward = sender_side(packets)
    own = packets.filter((pl.col("place") == place) & (pl.col("direction") == forward))
    sent = own.filter((pl.col("verdict") == "sent") & (pl.col("length_bytes") > 0))
    first, again = sent.filter(~pl.col("retransmission")), sent.filter(pl.col("retransmission"))
    acks = packets.filter(
        (pl.col("place") == place) & (pl.col("direction") != forward) & (pl.col("verdict") == "received")
    )
    lost = packets.filter(pl.col("verdict").is_in(DROPS) & (pl.col("length_bytes") > 0))
    highest = float((own["seq_bytes"] + own["length_bytes"]).max() or 0)
    ack = np.maximum.accumulate(_column(acks, "ack_bytes")) if len(acks) else np.empty(0)
    offered = _column(acks, "ack_bytes") + _column(acks, "window_bytes")
    edge = np.maximum.accumulate(offered) if len(acks) else np.empty(0)
    return Sequence(
        *_ticks(first),
        *_ticks(again),
        _column(acks, "t_s"),
        ack / KILOBYTE,
        _column(acks, "t_s"),
        np.where(edge <= FAR * highest, edge, np.nan) / KILOBYTE,
        _column(lost, "t_s"),
        _column(lost, "seq_bytes") / KILOBYTE,
        [f"{why} at {at}" for why, at in zip(lost["verdict"], lost["place"], strict=True)],
    )


def progress(trace: Trace, flow: int) -> Progress | None:
    """First unacknowledged byte, next byte to send and the window's edge, in kB, from samples."""
    if trace.samples is None:
        return None
    rows = trace.samples.filter(pl.col("flow") == flow).sort("t_s", maintain_order=True)
    if rows.is_empty():
        return None
    acked, sent = _column(rows, "snd_una_bytes"), _column(rows, "snd_nxt_bytes")
    edge = np.maximum.accumulate(acked + _column(rows, "rwnd_bytes"))
    edge = np.where(edge <= FAR * sent.max(), edge, np.nan)
    return Progress(_column(rows, "t_s"), acked / KILOBYTE, sent / KILOBYTE, edge / KILOBYTE)


def _ticks(segments: pl.DataFrame) -> tuple[Floats, Floats, Floats]:
    low = _column(segments, "seq_bytes")
    return (
        _column(segments, "t_s"),
        low / KILOBYTE,
        (low + _column(segments, "length_bytes")) / KILOBYTE,
    )


def window(trace: Trace, flow: int) -> Window | None:
    """The congestion window and its neighbours over time."""
    if trace.samples is None:
        return None
    rows = trace.samples.filter(pl.col("flow") == flow).sort("t_s", maintain_order=True)
    if rows.is_empty():
        return None
    ssthresh = _column(rows, "ssthresh_bytes")
    cwnd, flight = _column(rows, "cwnd_bytes"), _column(rows, "in_flight_bytes")
    # A sender that never lost anything has an unbounded threshold: nothing to draw.
    ssthresh = np.where(np.isfinite(ssthresh) & (ssthresh < 2**31), ssthresh, np.nan)
    return Window(
        _column(rows, "t_s"),
        cwnd / KILOBYTE,
        _near(ssthresh, cwnd, flight) / KILOBYTE,
        _near(_column(rows, "rwnd_bytes"), cwnd, flight) / KILOBYTE,
        flight / KILOBYTE,
    )


def _near(limit: Floats, *curves: Floats) -> Floats:
    """A limit where it matters: left out where it is far above everything else."""
    top = max(float(np.nanmax(curve)) for curve in curves)
    return np.where(limit <= FAR * top, limit, np.nan)


def bin_width(span_s: float, most: int = 240) -> float:
    """0.1 s as in the literature, or the next 1-2-5 step that keeps bins few."""
    width = 0.1
    steps = (2.0, 2.5, 2.0)
    k = 0
    while span_s / width > most:
        width *= steps[k % 3]
        k += 1
    return round(width, 6)


def ack_rate(trace: Trace, flow: int, span_s: float) -> AckRate | None:
    """Pure ACKs per second at the data's sender, by how far each moved the window."""
    if trace.packets is None:
        return None
    packets = _strings(trace.packets, "place", "direction", "verdict").filter(pl.col("flow") == flow)
    if packets.is_empty():
        return None
    place, forward = sender_side(packets)
    acks = packets.filter(
        (pl.col("place") == place)
        & (pl.col("direction") != forward)
        & (pl.col("verdict") == "received")
        & (pl.col("length_bytes") == 0)
    )
    if acks.is_empty():
        return None
    segment = packets.filter(pl.col("direction") == forward)["length_bytes"].max() or 1
    highest = np.maximum.accumulate(_column(acks, "ack_bytes"))
    advance = np.diff(highest, prepend=0.0)
    t = _column(acks, "t_s")
    width = bin_width(span_s)
    edges = np.arange(0.0, max(span_s, float(t[-1])) + 2 * width, width)

    def rate(chosen: NDArray[np.bool_]) -> Floats:
        return np.histogram(t[chosen], edges)[0] / width

    return AckRate(
        width,
        edges[:-1] + width / 2,
        rate(advance >= segment),
        rate((advance > 0) & (advance < segment)),
        rate(advance <= 0),
    )


def airtime(trace: Trace, span_s: float) -> Airtime | None:
    """The medium's time by station and use; overlapping frames of one collision count once."""
    if trace.mac is None or trace.mac.is_empty():
        return None
    mac = _strings(trace.mac, "outcome").sort("t_s", maintain_order=True)
    width = bin_width(span_s, 120)
    edges = np.arange(0.0, span_s + width, width)
    collided = (
        mac.filter(pl.col("outcome") == "collision")
        .group_by("t_s", maintain_order=True)
        .agg(pl.col("airtime_s").max())
    )
    layers = []
    clean = mac.filter(pl.col("outcome") == "success")
    small = pl.col("frame_bytes") <= ACK_FRAME_BYTES
    stations = sorted(clean["station"].unique().to_list())
    together = len(stations) > MOST_STATIONS
    if together:
        clean = clean.with_columns(station=pl.min_horizontal("station", pl.lit(1)))
        stations = stations[:2] if stations[0] == 0 else [1]
    for kind, plural, rows in (("data", "data", clean.filter(~small)), ("ack", "ACKs", clean.filter(small))):
        for station in stations:
            own = rows.filter(pl.col("station") == station)
            who = "access point" if station == 0 else "stations" if together else f"station {station}"
            layers.append(_layer(f"{who}: {plural}", kind, station, own, edges, width))
    layers.append(_layer("collisions", "collision", -1, collided, edges, width))
    failed = mac.filter(~pl.col("outcome").is_in(["success", "collision"]))
    layers.append(_layer("failed frames", "error", -1, failed, edges, width))
    # A handful of handshake frames would only add a line to the legend.
    least = NOTABLE * span_s
    layers = [a for a in layers if a.total_s > (least if a.kind in ("data", "ack") else 0)]
    busy = np.sum([layer.share for layer in layers], axis=0)
    used = sum(layer.total_s for layer in layers)
    idle = AirtimeLayer("idle", "idle", -1, np.clip(1 - busy, 0, 1), max(0.0, span_s - used))
    return Airtime(width, edges[:-1] + width / 2, [*layers, idle], span_s)


#: Column of the stations table, and the kind of use it counts.
STATION_KINDS = (
    ("data_airtime_s", "data"),
    ("ack_airtime_s", "ack"),
    ("collision_airtime_s", "collision"),
    ("error_airtime_s", "error"),
)


def airtime_totals(trace: Trace, span_s: float) -> dict[str, float] | None:
    """Share of the whole run by kind of use, 0..1; from the MAC log or the stations' totals."""
    if span_s <= 0:
        return None
    totals = dict.fromkeys((kind for _, kind in STATION_KINDS), 0.0)
    if trace.mac is not None and not trace.mac.is_empty():
        used = airtime(trace, span_s)
        for layer in used.layers if used is not None else []:
            if layer.kind in totals:
                totals[layer.kind] += layer.total_s / span_s
    elif trace.stations is not None and not trace.stations.is_empty():
        for column, kind in STATION_KINDS:
            if column in trace.stations.columns:
                totals[kind] = float(trace.stations[column].sum()) / span_s
        # Both parties of a collision count it; the medium lost its time once.
        totals["collision"] /= 2
    else:
        return None
    totals["idle"] = max(0.0, 1 - sum(totals.values()))
    return totals


def _layer(
    name: str, kind: str, station: int, rows: pl.DataFrame, edges: Floats, width: float
) -> AirtimeLayer:
    if rows.is_empty():
        return AirtimeLayer(name, kind, station, np.zeros(len(edges) - 1), 0.0)
    used = _column(rows, "airtime_s")
    share = np.histogram(_column(rows, "t_s"), edges, weights=used)[0] / width
    return AirtimeLayer(name, kind, station, share, float(used.sum()))
