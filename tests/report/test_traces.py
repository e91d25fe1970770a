"""Arrays behind the plots: nothing lost, nothing invented."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from lasthop.report import CellKey, ReportInput, Trace
from lasthop.report import traces as tr
from lasthop.report.payload import choose_cells, handovers_of, series, typical_seed
from lasthop.report.thinning import changes, envelope, merge_ticks

from . import synthetic


@pytest.fixture(scope="module")
def trace(toy: ReportInput) -> Trace:
    assert toy.load_trace is not None
    found = toy.load_trace(CellKey("brute-force 12", "sim", 1))
    assert found is not None
    return found


def test_every_segment_sent_is_a_tick(trace: Trace) -> None:
    shown = tr.sequence(trace, 0)
    assert shown is not None
    assert trace.packets is not None
    sent = trace.packets.filter((pl.col("verdict") == "sent") & (pl.col("length_bytes") > 0))
    assert len(shown.data_t) + len(shown.again_t) == len(sent)
    assert np.all(shown.data_high - shown.data_low == pytest.approx(1.448))


def test_ack_line_never_falls(trace: Trace) -> None:
    shown = tr.sequence(trace, 0)
    assert shown is not None
    assert np.all(np.diff(shown.ack) >= 0)
    assert np.all(shown.edge >= shown.ack)


def test_drops_carry_place_and_reason() -> None:
    rows = synthetic.run(0, 4)
    shown = tr.sequence(Trace(packets=pl.DataFrame(rows.packets)), 0)
    assert shown is not None
    losses = [p for p in rows.packets if p["verdict"] == "error"]
    assert shown.drop_why == ["error at wire"] * len(losses)


def test_uploads_are_seen_from_the_client() -> None:
    packets = pl.DataFrame(synthetic.run(0, 1).packets).with_columns(
        place=pl.col("place").replace({"server": "client", "client": "server"}),
        direction=pl.col("direction").replace({"uplink": "downlink", "downlink": "uplink"}),
    )
    assert tr.sender_side(packets) == ("client", "uplink")
    shown = tr.sequence(Trace(packets=packets), 0)
    assert shown is not None
    assert len(shown.data_t) > 600


def test_ack_rate_counts_every_ack_once(trace: Trace) -> None:
    acks = tr.ack_rate(trace, 0, 3.0)
    assert acks is not None
    assert trace.packets is not None
    received = trace.packets.filter(pl.col("verdict") == "received")
    total = (acks.full + acks.divided + acks.duplicate).sum() * acks.bin_s
    assert total == pytest.approx(len(received))
    assert acks.divided.sum() > acks.full.sum()


def test_unset_threshold_is_a_gap(trace: Trace) -> None:
    state = tr.window(trace, 0)
    assert state is not None
    assert np.isnan(state.ssthresh[0])
    assert np.all(state.cwnd > 0)


def test_collision_of_two_stations_costs_its_time_once() -> None:
    attempt = {"attempt": 1, "airtime_s": 0.01, "delay_s": 0.0, "frame_bytes": 1500}
    mac = pl.DataFrame(
        [
            {**attempt, "t_s": 0.02, "station": 0, "outcome": "collision"},
            {**attempt, "t_s": 0.02, "station": 1, "outcome": "collision", "airtime_s": 0.004},
            {**attempt, "t_s": 0.05, "station": 0, "outcome": "success"},
            {**attempt, "t_s": 0.07, "station": 1, "outcome": "success", "frame_bytes": 90},
        ]
    )
    totals = tr.airtime_totals(Trace(mac=mac), 0.1)
    assert totals == pytest.approx({"data": 0.1, "ack": 0.1, "collision": 0.1, "error": 0.0, "idle": 0.7})


def test_station_totals_serve_when_the_mac_was_not_logged() -> None:
    stations = pl.DataFrame(
        {
            "station": [0, 1],
            "data_airtime_s": [0.2, 0.0],
            "ack_airtime_s": [0.0, 0.1],
            "collision_airtime_s": [0.05, 0.05],
            "error_airtime_s": [0.0, 0.0],
        }
    )
    totals = tr.airtime_totals(Trace(stations=stations), 1.0)
    assert totals is not None
    assert totals["collision"] == pytest.approx(0.05)
    assert sum(totals.values()) == pytest.approx(1.0)


def test_handovers_come_from_radio_events() -> None:
    events = pl.DataFrame(
        {
            "t_s": [1.0, 1.0, 1.3, 1.3, 2.0],
            "flow": [-1] * 5,
            "kind": ["radio-down", "radio-down", "radio-up", "radio-up", "timeout"],
            "value": [1.0, 2.0, 1.0, 2.0, 0.0],
        }
    )
    assert [(h.start_s, h.end_s) for h in handovers_of(Trace(events=events))] == [(1.0, 1.3)]


def test_joined_ticks_keep_the_inked_range() -> None:
    t = np.linspace(0, 10, 50_000)
    low = np.arange(50_000, dtype=np.float64) * 1.448
    joined_t, joined_low, joined_high, thinned = merge_ticks(t, low, low + 1.448, 2000)
    assert thinned
    assert len(joined_t) <= 2000
    assert (joined_low[0], joined_high[-1]) == (low[0], low[-1] + 1.448)
    assert (joined_high - joined_low).sum() == pytest.approx(50_000 * 1.448)


def test_envelope_keeps_peaks() -> None:
    t = np.arange(100_000.0)
    y = np.ones(100_000)
    y[77_777] = 50.0
    kept_t, (kept,), thinned = envelope(t, [y], 4000)
    assert thinned
    assert len(kept_t) <= 4000
    assert kept.max() == 50.0


def test_step_lines_lose_only_repeats() -> None:
    t, y = changes(np.arange(6.0), np.array([0.0, 0.0, 2.0, 2.0, 2.0, 5.0]))
    assert (t.tolist(), y.tolist()) == ([0.0, 2.0, 5.0], [0.0, 2.0, 5.0])


def test_drawn_cells_share_the_typical_seed(toy: ReportInput) -> None:
    metric = toy.primary_metric()
    chosen = choose_cells(toy, metric)
    cells = list(toy.cells())
    assert {k.seed for k in chosen.keys} == {typical_seed(toy, metric, "sim", cells)}
    assert [k.variant for k in chosen.keys] == list(synthetic.VARIANTS)


def test_long_runs_are_thinned_and_the_page_says_so() -> None:
    report = synthetic.report_input(seeds=1, size=12_000_000, traced_seeds=1)
    drawn, notes = series(report, choose_cells(report, report.primary_metric()))
    assert max(len(s["sequence"]["data"]["t"]) for s in drawn) <= 20_000
    assert any("thinned" in note for note in notes)
