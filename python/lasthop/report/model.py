"""What a report is made from, whoever made it.

A run, a reproduction of published tables and a comparison of engines all end
in one :class:`ReportInput`; the rest of this package knows nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from .path_model import PathDescription

Better = Literal["lower", "higher"]

KEY_COLUMNS = ("variant", "seed", "engine")


@dataclass(frozen=True)
class Metric:
    """One number per cell: where it stands, what it is called, how to print it."""

    column: str
    label: str
    unit: str
    #: Which way is good; ``None`` for quantities that are neither (a cost, a count).
    better: Better | None = None
    #: Multiplies the stored value before it is shown (bit/s to Mbit/s is 1e-6).
    scale: float = 1.0


#: The metrics every engine writes, in the order in which they answer a question.
METRICS: tuple[Metric, ...] = (
    Metric("transfer_time_s", "Transfer time", "s", "lower"),
    Metric("goodput_bps", "Goodput", "Mbit/s", "higher", 1e-6),
    Metric("retransmissions", "Retransmissions", "packets", "lower"),
    Metric("timeouts", "Timeouts", "", "lower"),
    Metric("fast_retransmits", "Fast retransmits", ""),
    Metric("cwnd_cuts", "Window cuts", ""),
    Metric("acks_sent", "ACKs sent", "packets"),
    Metric("divided_acks", "Divided ACKs", "packets"),
    Metric("data_packets", "Data packets", "packets"),
    Metric("completed_flows", "Finished flows", "", "higher"),
    Metric("jain_fairness", "Jain's fairness index", "", "higher"),
    Metric("data_airtime_share", "Airtime of data", "%", None, 100.0),
    Metric("ack_airtime_share", "Airtime of ACKs", "%", None, 100.0),
    Metric("collision_airtime_share", "Airtime lost in collisions", "%", None, 100.0),
    Metric("mac_collisions", "Collided frames", ""),
    Metric("mac_retries", "Frames tried again", ""),
)


@dataclass(frozen=True, order=True)
class CellKey:
    """One run: a variant with a seed on an engine."""

    variant: str
    engine: str
    seed: int


@dataclass(frozen=True)
class Variant:
    """One named combination of parameters, values as spelt in the scenario."""

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Handover:
    """A time in which a radio is down."""

    start_s: float
    end_s: float
    label: str = "handover"


@dataclass(frozen=True)
class Trace:
    """The detailed tables of one cell; an absent table is ``None``."""

    samples: pl.DataFrame | None = None
    packets: pl.DataFrame | None = None
    mac: pl.DataFrame | None = None
    events: pl.DataFrame | None = None
    flows: pl.DataFrame | None = None
    stations: pl.DataFrame | None = None


TraceLoader = Callable[[CellKey], Trace | None]


@dataclass(frozen=True)
class PublishedRow:
    """A published number beside ours."""

    source: str
    item: str
    quantity: str
    at: Mapping[str, object]
    published: float
    ours: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int = 0
    engine: str = "sim"
    verdict: str = ""
    #: Whether it enters the median distance: standard deviations, settings taken
    #: over and what was calibrated on do not.
    counts: bool = True


@dataclass(frozen=True)
class Claim:
    """A claim of a source, and whether it holds here."""

    source: str
    claim: str
    holds: bool | None
    evidence: str = ""


@dataclass(frozen=True)
class ReportInput:
    """Everything one report shows."""

    title: str
    #: One row per cell: ``variant``, ``seed``, ``engine`` and metric columns.
    metrics: pl.DataFrame
    variants: Sequence[Variant]
    scenario_text: str = ""
    path: PathDescription | None = None
    #: Fetches the tables of one cell when it is chosen to be drawn.
    load_trace: TraceLoader | None = None
    #: Cells that have traces; empty means every cell of ``metrics`` may.
    traced: Sequence[CellKey] = ()
    #: The variant others are compared with; the first one when ``None``.
    baseline: str | None = None
    #: The metrics that decide, one answer each; the first one present when empty.
    primary: Sequence[str] = ()
    #: Metrics of this experiment alone, beside those every engine writes.
    own_metrics: Sequence[Metric] = ()
    summary: str = ""
    published: Sequence[PublishedRow] = ()
    claims: Sequence[Claim] = ()
    #: A remark on a published table, such as why we disagree, by ``source/item``.
    remarks: Mapping[str, str] = field(default_factory=dict)
    handovers: Sequence[Handover] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    #: What a reader must know before trusting the numbers (rejected runs, limits).
    notes: Sequence[str] = ()
    #: What to call this experiment among others, in a word or two.
    tag: str = ""
    #: Experiments that are shown on one page but never compared with each other;
    #: each is a report of its own, with its own variants, baseline and metrics.
    parts: Sequence[ReportInput] = ()

    @property
    def experiments(self) -> Sequence[ReportInput]:
        """What is compared within itself: the parts, or this report when it has none."""
        return self.parts or (self,)

    @property
    def engines(self) -> list[str]:
        """The engines, in the order in which they first appear."""
        if self.parts:
            return list(dict.fromkeys(engine for part in self.parts for engine in part.engines))
        if self.metrics.is_empty():
            return []
        return [str(e) for e in self.metrics["engine"].unique(maintain_order=True)]

    @property
    def baseline_name(self) -> str:
        """The variant that others are compared with."""
        if self.baseline is not None:
            return self.baseline
        return self.variants[0].name if self.variants else ""

    def available_metrics(self) -> list[Metric]:
        """The known metrics that have at least one value here."""
        return [m for m in (*self.own_metrics, *METRICS) if self.has(m.column)]

    def has(self, column: str) -> bool:
        """Whether the metrics hold any value in ``column``."""
        if column not in self.metrics.columns:
            return False
        values = self.metrics[column].cast(pl.Float64, strict=False)
        return bool(values.is_finite().any())

    def primary_metric(self) -> Metric | None:
        """The metric that decides who wins; the first when there are several."""
        return next(iter(self.primary_metrics()), None)

    def primary_metrics(self) -> list[Metric]:
        """The metrics that decide who wins.

        Those asked for; else the transfer time when every run finished; else the
        goodput, because a mean over only those runs that finished would flatter
        the losers.
        """
        available = self.available_metrics()
        asked = [m for name in self.primary for m in available if m.column == name]
        if asked:
            return asked
        deciding = [m for m in available if m.better is not None]
        for metric in deciding:
            values = self.metrics[metric.column].cast(pl.Float64, strict=False)
            if bool(values.is_finite().fill_null(False).all()):
                return [metric]
        return deciding[:1]

    def cells(self) -> Iterator[CellKey]:
        """Every cell of the metrics frame, in its order."""
        for row in self.metrics.select(KEY_COLUMNS).iter_rows(named=True):
            yield CellKey(str(row["variant"]), str(row["engine"]), int(row["seed"]))


def traces_from_frames(
    *,
    samples: pl.DataFrame | None = None,
    packets: pl.DataFrame | None = None,
    mac: pl.DataFrame | None = None,
    events: pl.DataFrame | None = None,
    flows: pl.DataFrame | None = None,
    stations: pl.DataFrame | None = None,
) -> TraceLoader:
    """A loader over frames that hold all cells, told apart by the key columns."""

    def pick(frame: pl.DataFrame | None, key: CellKey) -> pl.DataFrame | None:
        if frame is None or frame.is_empty():
            return None
        rows = frame.filter(
            (pl.col("variant") == key.variant)
            & (pl.col("seed") == key.seed)
            & (pl.col("engine") == key.engine)
        )
        return None if rows.is_empty() else rows.drop(KEY_COLUMNS)

    def load(key: CellKey) -> Trace | None:
        trace = Trace(
            pick(samples, key),
            pick(packets, key),
            pick(mac, key),
            pick(events, key),
            pick(flows, key),
            pick(stations, key),
        )
        if trace.samples is None and trace.packets is None and trace.mac is None and trace.stations is None:
            return None
        return trace

    return load
