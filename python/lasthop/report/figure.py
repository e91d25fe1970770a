"""Figures for papers: one plot, vector output, the same bytes every time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lasthop.errors import LasthopError

from . import thinning, traces
from .model import CellKey, Metric, ReportInput, Trace
from .payload import choose_cells, handovers_of, trace_end, typical_seed
from .summary import standings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Kind = Literal["sequence", "cwnd", "ack-rate", "distribution"]
KINDS: tuple[Kind, ...] = ("sequence", "cwnd", "ack-rate", "distribution")
SUFFIXES = (".pdf", ".svg", ".png")

#: Okabe and Ito's colours, told apart by colour-blind readers and in grey print.
BLUE, GREEN, RED = "#0072b2", "#009e73", "#d55e00"
ORANGE, PURPLE, SKY, GREY = "#e69f00", "#cc79a7", "#56b4e9", "#808890"
#: More ticks than this and the file grows without a visible gain on paper.
MOST_TICKS = 20_000

STYLE: dict[Any, Any] = {
    "font.family": "serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "grid.color": "#e3e6e8",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.2,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    # Element names in an SVG are random otherwise.
    "svg.hashsalt": "lasthop",
}


def write_figure(
    report: ReportInput,
    file: Path,
    kind: Kind = "sequence",
    *,
    variant: str | None = None,
    seed: int | None = None,
    engine: str | None = None,
    metric: str | None = None,
) -> Path:
    """Draws one figure into ``file``; its suffix chooses the format.

    Raises:
        LasthopError: When the suffix, kind, variant, seed or metric is unknown, or
            the run did not record what the figure needs.
    """
    if file.suffix.lower() not in SUFFIXES:
        raise LasthopError(f"{file}: the name must end in one of {', '.join(SUFFIXES)}")
    if kind not in KINDS:
        raise LasthopError(f"no figure {kind!r}; there are: {', '.join(KINDS)}")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5.4, 3.3), layout="constrained")
        if kind == "distribution":
            _draw_distribution(figure, report, metric)
        else:
            key = choose_cell(report, variant, seed, engine)
            _draw_over_time(figure, report, key, kind)
        _save(figure, file)
    return file


def _save(figure: Figure, file: Path) -> None:
    undated: dict[str, dict[str, Any]] = {
        ".pdf": {"CreationDate": None, "Creator": "lasthop", "Producer": None},
        ".svg": {"Date": None, "Creator": "lasthop"},
        ".png": {"Software": "lasthop"},
    }
    suffix = file.suffix.lower()
    figure.savefig(file, format=suffix[1:], dpi=200, metadata=undated[suffix])


def choose_cell(report: ReportInput, variant: str | None, seed: int | None, engine: str | None) -> CellKey:
    """The cell asked for; what is not asked for is chosen as the report does.

    Raises:
        LasthopError: When there is no such cell.
    """
    cells = [key for key in (list(report.traced) or list(report.cells())) if engine in (None, key.engine)]
    known = list(dict.fromkeys(key.variant for key in cells))
    if variant is not None and variant not in known:
        raise LasthopError(f"no variant {variant!r}; there are: {', '.join(known)}")
    metric = report.primary_metric()
    name = variant or (choose_cells(report, metric).keys or cells)[0].variant
    own = [key for key in cells if key.variant == name]
    if not own:
        raise LasthopError("there are no runs to draw")
    if seed is None:
        seed = typical_seed(report, metric, own[0].engine, own)
    for key in own:
        if key.seed == seed:
            return key
    seeds = ", ".join(str(key.seed) for key in own[:12])
    raise LasthopError(f"no seed {seed} of {name!r}; there are: {seeds}")


def _draw_over_time(figure: Figure, report: ReportInput, key: CellKey, kind: Kind) -> None:
    trace = report.load_trace(key) if report.load_trace is not None else None
    flow = None if trace is None else traces.main_flow(trace)
    if trace is None or flow is None:
        raise LasthopError(f"{key.variant}, seed {key.seed}: neither samples nor packets were recorded")
    axes = figure.subplots()
    draw: dict[str, Callable[[Axes, Trace, int], bool]] = {
        "sequence": _draw_sequence,
        "cwnd": _draw_windows,
        "ack-rate": _draw_ack_rate,
    }
    if not draw[kind](axes, trace, flow):
        table = "samples" if kind == "cwnd" else "packets"
        raise LasthopError(
            f"{key.variant}, seed {key.seed}: {table} were not recorded; "
            f"set {table} under [record] in the scenario"
        )
    for handover in report.handovers or handovers_of(trace):
        axes.axvspan(handover.start_s, handover.end_s, color=ORANGE, alpha=0.18, lw=0, label=handover.label)
    axes.set_xlabel("time (s)")
    axes.set_xlim(0, 1.01 * trace_end(trace) or 1.0)
    handles, labels = axes.get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    figure.legend(
        unique.values(),
        unique.keys(),
        loc="outside upper center",
        ncols=min(6, len(unique)),
        columnspacing=1.2,
        handlelength=1.6,
    )


def _draw_sequence(axes: Axes, trace: Trace, flow: int) -> bool:
    shown = traces.sequence(trace, flow)
    if shown is None:
        return False
    t, low, high, _ = thinning.merge_ticks(shown.data_t, shown.data_low, shown.data_high, MOST_TICKS)
    # Projecting caps keep a tick visible where a segment is thinner than a dot of ink.
    axes.vlines(t, low, high, color=BLUE, lw=1.0, label="segment", capstyle="projecting")
    if len(shown.again_t):
        axes.vlines(
            shown.again_t, shown.again_low, shown.again_high, color=RED, lw=1.4, label="retransmission"
        )
    for x, y in _letters(shown):
        axes.annotate("R", (x, y), (0, 2), textcoords="offset points", color=RED, fontsize=6, ha="center")
    if len(shown.drop_t):
        axes.plot(shown.drop_t, shown.drop, "x", color="black", ms=3.5, mew=0.8, label="lost")
    axes.step(shown.ack_t, shown.ack, where="post", color=GREEN, lw=1.0, label="ACK")
    top = max((float(a.max()) for a in (shown.data_high, shown.ack) if len(a)), default=1.0)
    axes.step(shown.edge_t, shown.edge, where="post", color=PURPLE, lw=0.9, ls=":", label="window")
    # The window's edge may lie far above; the data decides what is shown.
    reach = float(np.nanmax(shown.edge, initial=0.0))
    axes.set_ylim(0, 1.05 * (reach if top < reach < 1.5 * top else top))
    axes.set_ylabel("sequence number (kB)")
    return True


def _letters(shown: traces.Sequence) -> list[tuple[float, float]]:
    """Where to write an R: at retransmissions, as far apart as the letters are wide."""
    if not len(shown.again_t):
        return []
    room = float(max(shown.data_t.max(initial=0.0), shown.again_t.max())) / 70
    found: list[tuple[float, float]] = []
    for x, y in zip(shown.again_t.tolist(), shown.again_high.tolist(), strict=True):
        if not found or x - found[-1][0] >= room:
            found.append((x, y))
    return found


def _draw_windows(axes: Axes, trace: Trace, flow: int) -> bool:
    state = traces.window(trace, flow)
    if state is None:
        return False
    axes.fill_between(state.t, state.flight, step="post", color=GREY, alpha=0.3, lw=0, label="in flight")
    axes.step(state.t, state.rwnd, where="post", color=PURPLE, ls=":", label="receiver's window")
    if bool(np.isfinite(state.ssthresh).any()):
        axes.step(state.t, state.ssthresh, where="post", color=ORANGE, ls="--", label="ssthresh")
    axes.step(state.t, state.cwnd, where="post", color=BLUE, label="cwnd")
    top = float(max(state.cwnd.max(), state.flight.max()))
    limit = float(np.nanmax(state.rwnd, initial=0.0))
    axes.set_ylim(0, 1.06 * (limit if top < limit < 1.7 * top else top))
    axes.set_ylabel("window (kB)")
    return True


def _draw_ack_rate(axes: Axes, trace: Trace, flow: int) -> bool:
    acks = traces.ack_rate(trace, flow, trace_end(trace))
    if acks is None:
        return False
    bottom = np.zeros_like(acks.t)
    parts = (
        ("at least one segment", GREEN, acks.full),
        ("less than a segment", SKY, acks.divided),
        ("nothing new", RED, acks.duplicate),
    )
    for label, colour, values in parts:
        if values.any():
            axes.bar(acks.t, values, acks.bin_s, bottom=bottom, color=colour, label=label, lw=0)
        bottom = bottom + values
    axes.set_ylabel("ACKs per second")
    return True


def _metric(report: ReportInput, name: str | None) -> Metric:
    available = report.available_metrics()
    if name is None:
        primary = report.primary_metric()
        if primary is None:
            raise LasthopError("there are no finished runs to draw")
        return primary
    for metric in available:
        if metric.column == name:
            return metric
    raise LasthopError(f"no metric {name!r}; there are: {', '.join(m.column for m in available)}")


def _draw_distribution(figure: Figure, report: ReportInput, name: str | None) -> None:
    metric = _metric(report, name)
    rows = [row for engine in report.engines for row in standings(report, metric, engine)]
    figure.set_size_inches(5.4, 0.8 + 0.42 * len(rows))
    axes = figure.subplots()
    colours: Sequence[str] = (BLUE, ORANGE, GREEN, PURPLE, RED, SKY, GREY)
    names = list(dict.fromkeys(row.variant for row in rows))
    for index, row in enumerate(rows):
        y = len(rows) - 1 - index
        values = np.array(row.values) * metric.scale
        # The golden ratio spreads neighbours evenly and the same way every time.
        lift = ((np.arange(len(values)) * 0.6180339887) % 1 - 0.5) * 0.36
        colour = colours[names.index(row.variant) % len(colours)]
        axes.plot(values, y + lift, "o", ms=3, mew=0, color=colour, alpha=0.5)
        mean = row.estimate.mean * metric.scale
        if row.estimate.low is not None and row.estimate.high is not None:
            ends = (row.estimate.low * metric.scale, row.estimate.high * metric.scale)
            axes.plot(ends, (y, y), "-|", color="black", lw=1.2, ms=6)
        axes.plot(mean, y, "D", color="black", ms=4)
    label = "{} · {}".format if len(report.engines) > 1 else "{}".format
    axes.set_yticks(range(len(rows)), [label(r.variant, r.engine) for r in reversed(rows)])
    axes.set_ylim(-0.5, len(rows) - 0.5)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(f"{metric.label} ({metric.unit})" if metric.unit else metric.label)
