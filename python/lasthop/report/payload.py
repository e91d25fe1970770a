"""The numbers the page's script draws: chosen cells, thinned and rounded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import thinning, traces
from .model import CellKey, Handover, Metric, ReportInput, Trace
from .numbers import plural
from .summary import best_of, standings, values_by_seed

#: A screen has fewer columns than this; more points only make the file large.
POINTS_PER_TRACE = 20_000
#: All series of a report share this many points.
POINTS_PER_REPORT = 400_000
#: More variants than this cannot be told apart; the table still lists them all.
MOST_SERIES = 12

Json = dict[str, Any]


@dataclass(frozen=True)
class Chosen:
    """The cells that are drawn, and why these."""

    keys: Sequence[CellKey]
    left_out: Sequence[str]


def choose_cells(report: ReportInput, metric: Metric | None) -> Chosen:
    """One cell per variant and engine, of equal seed, so that losses are equal too.

    The seed is the one whose results lie nearest to the medians of all variants.
    """
    traced = list(report.traced) or list(report.cells())
    order = _variant_order(report, metric)
    keys, left_out = [], []
    per_engine = max(1, MOST_SERIES // max(1, len(report.engines)))
    for engine in report.engines:
        own = [k for k in traced if k.engine == engine]
        seed = typical_seed(report, metric, engine, own)
        shown = 0
        for variant in order:
            seeds = sorted(k.seed for k in own if k.variant == variant)
            if not seeds:
                continue
            if shown == per_engine:
                left_out.append(variant)
                continue
            keys.append(CellKey(variant, engine, seed if seed in seeds else seeds[0]))
            shown += 1
    names = [v.name for v in report.variants]
    keys.sort(key=lambda k: (names.index(k.variant), report.engines.index(k.engine)))
    return Chosen(keys, left_out)


def _variant_order(report: ReportInput, metric: Metric | None) -> list[str]:
    """Baseline and winners first: the ones to keep when there are too many."""
    first = [report.baseline_name]
    if metric is not None:
        for engine in report.engines:
            best = best_of(standings(report, metric, engine), metric)
            first += [best.variant] if best else []
    names = [*first, *(v.name for v in report.variants)]
    return list(dict.fromkeys(n for n in names if n in {v.name for v in report.variants}))


def typical_seed(
    report: ReportInput, metric: Metric | None, engine: str, keys: Sequence[CellKey]
) -> int | None:
    """The seed nearest to every variant's median of the deciding metric."""
    seeds = sorted({k.seed for k in keys})
    if metric is None or not seeds:
        return seeds[0] if seeds else None
    distance = dict.fromkeys(seeds, 0.0)
    for variant in report.variants:
        values = values_by_seed(report.metrics, metric, variant.name, engine)
        if not values:
            continue
        middle = float(np.median(list(values.values()))) or 1.0
        for seed in seeds:
            distance[seed] += abs(values.get(seed, 3 * middle) / middle - 1)
    return min(seeds, key=lambda s: (distance[s], s))


def all_series(report: ReportInput) -> tuple[list[Json], list[str]]:
    """The chosen cells of every experiment, told apart by ``part``, and remarks."""
    chosen = [choose_cells(part, part.primary_metric()) for part in report.experiments]
    drawn = sum(len(choice.keys) for choice in chosen)
    found: list[Json] = []
    notes: list[str] = []
    for index, (part, choice) in enumerate(zip(report.experiments, chosen, strict=True)):
        own, remarks = series(part, choice, drawn)
        found += [{**one, "part": index} for one in own]
        notes += [note for note in remarks if note not in notes]
    return found, notes


def series(report: ReportInput, chosen: Chosen, drawn: int | None = None) -> tuple[list[Json], list[str]]:
    """Every chosen cell as arrays, and remarks on what was left out.

    ``drawn`` is how many cells share the page; those chosen when ``None``.
    """
    if report.load_trace is None:
        return [], []
    share = min(POINTS_PER_TRACE, POINTS_PER_REPORT // max(1, 5 * (drawn or len(chosen.keys))))
    found, thinned = [], False
    for key in chosen.keys:
        trace = report.load_trace(key)
        if trace is None:
            continue
        one = _one(report, key, trace, share)
        if one is not None:
            thinned |= bool(one.pop("thinned"))
            found.append(one)
    notes = []
    if thinned:
        notes.append(
            f"Traces of more than {share:,} points are thinned: segments that touch are joined, "
            "lines keep their first, lowest, highest and last point of each stretch."
        )
    missing = _unrecorded(found)
    if missing:
        notes.append(missing)
    if chosen.left_out:
        names = sorted(set(chosen.left_out))
        notes.append(f"{plural(len(names), 'further variant')} not drawn here: {', '.join(names)}.")
    return found, notes


def _unrecorded(found: Sequence[Json]) -> str:
    """What the scenario would have to record to show more."""
    if not found or any(s["sequence"]["data"]["t"] for s in found if "sequence" in s):
        return ""
    return (
        "Packets were not recorded: segments, retransmissions and the ACK rate are missing here. "
        "Set packets = true under [record] in the scenario to see them."
    )


def _one(report: ReportInput, key: CellKey, trace: Trace, most: int) -> Json | None:
    flow = traces.main_flow(trace)
    if flow is None and trace.mac is None and trace.stations is None:
        return None
    end = trace_end(trace)
    thinned = False
    result: Json = {
        "variant": key.variant,
        "engine": key.engine,
        "seed": key.seed,
        "flow": flow,
        "flows": traces.flow_count(trace),
        "end": _round(end),
        "handovers": [[h.start_s, h.end_s, h.label] for h in report.handovers or handovers_of(trace)],
    }
    if flow is not None:
        shown = traces.sequence(trace, flow)
        stood = traces.progress(trace, flow) if shown is None else None
        if shown is not None:
            result["sequence"], cut = _sequence(shown, most)
            thinned |= cut
        elif stood is not None:
            result["sequence"], cut = _progress(stood, most)
            thinned |= cut
        state = traces.window(trace, flow)
        if state is not None:
            t, values, cut = thinning.envelope(
                state.t, [state.cwnd, state.ssthresh, state.rwnd, state.flight], most
            )
            thinned |= cut
            names = ("cwnd", "ssthresh", "rwnd", "flight")
            result["window"] = {
                "t": _list(t),
                **{n: _list(v, 3) for n, v in zip(names, values, strict=True)},
            }
        acks = traces.ack_rate(trace, flow, end)
        if acks is not None:
            result["acks"] = {
                "bin": acks.bin_s,
                "t": _list(acks.t),
                "full": _list(acks.full, 2),
                "divided": _list(acks.divided, 2),
                "duplicate": _list(acks.duplicate, 2),
            }
    used = traces.airtime(trace, end)
    if used is not None:
        result["airtime"] = {
            "bin": used.bin_s,
            "span": _round(used.span_s),
            "t": _list(used.t),
            "layers": [
                {
                    "name": layer.name,
                    "kind": layer.kind,
                    "station": layer.station,
                    "share": _list(layer.share, 4),
                    "total": _round(layer.total_s),
                }
                for layer in used.layers
            ],
        }
    result["medium"] = traces.airtime_totals(trace, end)
    result["thinned"] = thinned
    return result


def _progress(stood: traces.Progress, most: int) -> tuple[Json, bool]:
    """The same shape without segments: lines for what was sent, acknowledged and allowed."""
    t, (sent, acked, edge), cut = thinning.envelope(stood.t, [stood.sent, stood.acked, stood.edge], most)
    nothing: Json = {"t": [], "lo": [], "hi": []}
    return {
        "data": nothing,
        "again": nothing,
        "sent": {"t": _list(t), "y": _list(sent, 3)},
        "ack": {"t": _list(t), "y": _list(acked, 3)},
        "edge": {"t": _list(t), "y": _list(edge, 3)},
        "drop": {"t": [], "y": [], "why": []},
    }, cut


def _sequence(shown: traces.Sequence, most: int) -> tuple[Json, bool]:
    t, low, high, cut = thinning.merge_ticks(shown.data_t, shown.data_low, shown.data_high, most // 3)
    at, alow, ahigh, acut = thinning.merge_ticks(shown.again_t, shown.again_low, shown.again_high, most // 3)
    ack_t, ack = thinning.changes(shown.ack_t, shown.ack)
    ack_t, (ack,), lcut = thinning.envelope(ack_t, [ack], most)
    edge_t, edge = thinning.changes(shown.edge_t, shown.edge)
    edge_t, (edge,), ecut = thinning.envelope(edge_t, [edge], most)
    few = slice(None, most // 4)
    return {
        "data": {"t": _list(t), "lo": _list(low, 3), "hi": _list(high, 3)},
        "again": {"t": _list(at), "lo": _list(alow, 3), "hi": _list(ahigh, 3)},
        "ack": {"t": _list(ack_t), "y": _list(ack, 3)},
        "edge": {"t": _list(edge_t), "y": _list(edge, 3)},
        "drop": {
            "t": _list(shown.drop_t[few]),
            "y": _list(shown.drop[few], 3),
            "why": shown.drop_why[few],
        },
    }, cut or acut or lcut or ecut or len(shown.drop_t) > most // 4


def trace_end(trace: Trace) -> float:
    """When the last thing worth drawing happened, in seconds."""
    ends: list[Any] = []
    if trace.flows is not None and "end_s" in trace.flows.columns:
        ends.append(trace.flows["end_s"].max())
    ends += [frame["t_s"].max() for frame in (trace.packets, trace.samples) if frame is not None]
    if not ends and trace.mac is not None:
        ends.append(trace.mac["t_s"].max())
    finite = [float(e) for e in ends if isinstance(e, int | float) and math.isfinite(e)]
    return max(finite, default=0.0)


def handovers_of(trace: Trace) -> list[Handover]:
    """Handovers from the cell's own event log: each radio-down to the next radio-up."""
    if trace.events is None:
        return []
    found: list[Handover] = []
    down: dict[float, float] = {}
    events = trace.events.sort("t_s", maintain_order=True)
    for t, kind, station in events.select("t_s", "kind", "value").iter_rows():
        if kind == "radio-down":
            down.setdefault(station, float(t))
        elif kind == "radio-up" and station in down:
            found.append(Handover(down.pop(station), float(t)))
    found += [Handover(start, trace_end(trace)) for start in down.values()]
    # Stations that roam together make one band, not one on top of another.
    return sorted(set(found), key=lambda h: (h.start_s, h.end_s))


def all_distributions(report: ReportInput) -> list[Json]:
    """The distributions of every experiment, told apart by ``part``."""
    parts = enumerate(report.experiments)
    return [{**one, "part": index} for index, part in parts for one in distributions(part)]


def distributions(report: ReportInput) -> list[Json]:
    """Every metric's values per variant and engine, with mean and interval."""
    result = []
    for metric in report.available_metrics():
        rows: list[Json] = [
            {
                "variant": row.variant,
                "engine": row.engine,
                "values": [_round(v * metric.scale) for v in row.values],
                "mean": _round(row.estimate.mean * metric.scale),
                "low": _scaled(row.estimate.low, metric),
                "high": _scaled(row.estimate.high, metric),
            }
            for engine in report.engines
            for row in standings(report, metric, engine)
        ]
        names = [v.name for v in report.variants]
        rows.sort(key=lambda row: names.index(str(row["variant"])))
        varied = {v for row in rows for v in row["values"]}
        if rows and varied != {0.0}:
            label = f"{metric.label} ({metric.unit})" if metric.unit else metric.label
            result.append({"column": metric.column, "label": label, "rows": rows})
    return result


def _scaled(value: float | None, metric: Metric) -> float | None:
    return None if value is None else _round(value * metric.scale)


def _round(value: float, digits: int = 6) -> float:
    return round(float(value), digits)


def _list(values: traces.Floats, digits: int = 6) -> list[float | None]:
    """Plain numbers; what is not finite becomes a gap."""
    rounded = np.round(values, digits).tolist()
    return [v if math.isfinite(v) else None for v in rounded]
