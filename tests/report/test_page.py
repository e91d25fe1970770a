"""The page as text: complete, escaped, alone."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from lasthop.errors import LasthopError
from lasthop.report import (
    Metric,
    ReportInput,
    Variant,
    join_reports,
    path_from_scenario,
    published_rows,
    render_report,
    write_figure,
)
from lasthop.report.diagram import describe_path, draw_path
from lasthop.report.intervals import estimate
from lasthop.report.numbers import interval, mean, shared_decimals
from lasthop.report.page import published_sentence, verdict_kind, view

from . import synthetic


def embedded(html: str) -> dict[str, object]:
    found = re.search(r'id="report-data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    data: dict[str, object] = json.loads(found.group(1))
    return data


def test_same_input_gives_the_same_bytes(toy: ReportInput) -> None:
    assert render_report(toy) == render_report(toy)


def test_names_cannot_break_out_of_the_page(toy: ReportInput) -> None:
    evil = '</script><script>alert("x")</script>'
    report = replace(toy, title=evil, scenario_text=evil, notes=[evil])
    html = render_report(report)
    assert evil not in html
    embedded(html)


def test_page_names_no_outside_resource(page_file: Path) -> None:
    html = page_file.read_text(encoding="utf-8")
    assert not re.search(r'<(script|link|img|iframe)[^>]*(src|href)="https?:', html)
    assert "default-src 'none'" in html


def test_report_of_nothing_is_still_a_page() -> None:
    empty = ReportInput(
        title="Nothing",
        metrics=pl.DataFrame(schema={"variant": pl.String, "seed": pl.Int64, "engine": pl.String}),
        variants=[],
    )
    html = render_report(empty)
    assert "no finished runs" in html
    assert "plotly.js" not in html


def test_published_rows_carry_verdict_chips(page_file: Path) -> None:
    html = page_file.read_text(encoding="utf-8")
    assert "✓ agrees" in html
    assert "✗ differs" in html
    assert (verdict_kind("agrees"), verdict_kind("disagrees"), verdict_kind("close")) == (
        "good",
        "bad",
        "neutral",
    )


def test_distance_from_published_is_a_median() -> None:
    # |3.05/3.12 - 1| = 2.2 %, |2.31/2.49 - 1| = 7.2 %, |2.80/2.35 - 1| = 19 %.
    assert "7.2\N{NO-BREAK SPACE}%; 2 of 3 numbers" in published_sentence(synthetic.published())


def test_path_is_read_from_the_scenario() -> None:
    path = path_from_scenario(synthetic.SCENARIO, {"divacks": "12"})
    assert path is not None
    text = describe_path(path)
    assert text.startswith(
        "server — wire wire (100 Mbit/s · 125 ms, queue 1000 packets, loses 0.1\xa0% of packets)"
    )
    assert "access point — Wi-Fi wlan (802.11g · 54 Mbit/s, queue 100 packets)" in text
    assert text.endswith("client with divacks")


def test_agents_stand_at_their_place() -> None:
    scenario = """
        hosts = { server = {}, client = { count = 3 } }
        path = [{ name = "core", type = "wired", rate = "10 Mbit/s" }, { name = "gateway", type = "node" },
                { name = "air", type = "wifi", standard = "b" }]
        agents = [{ at = "gateway", type = "snoop" }, { at = "air", type = "cache" }]
    """
    path = path_from_scenario(scenario)
    assert path is not None
    text = describe_path(path)
    assert "gateway with snoop" in text
    assert "access point with cache" in text
    assert text.endswith("client × 3")
    for orientation in ("horizontal", "vertical"):
        svg = draw_path(path, "vertical" if orientation == "vertical" else "horizontal")
        assert svg.count('class="badge"') == 2
        assert svg.count('class="icon"') == 4


def test_what_differs_by_direction_is_drawn() -> None:
    path = path_from_scenario(
        """
        [hosts]
        server = {}
        client = {}
        [[path]]
        name = "w"
        type = "wired"
        rate = "9 Mbit/s"
        downlink = { delay = "25 ms" }
        uplink = { rate = "1 Mbit/s", queue = "9 packets" }
        """
    )
    assert path is not None
    assert "9 Mbit/s, downlink 25 ms, uplink 1 Mbit/s · queue 9 packets" in describe_path(path)


def test_experiments_are_answered_apart(toy: ReportInput) -> None:
    first = replace(toy, tag="First", title="One thing", published=(), claims=())
    slower = toy.metrics.with_columns(transfer_time_s=pl.col("transfer_time_s") * 10)
    second = replace(first, tag="Second", title="Another", metrics=slower, primary=["goodput_bps"])
    joined = join_reports("Both", [first, second])
    page = view(joined)
    assert [part["tag"] for part in page["parts"]] == ["First", "Second"]
    assert [part["answers"][0]["metric"].column for part in page["parts"]] == [
        "transfer_time_s",
        "goodput_bps",
    ]
    # Ten times slower elsewhere changes nothing here.
    assert page["parts"][0] == view(first)["parts"][0]
    data = embedded(render_report(joined))
    assert {one["part"] for one in data["series"]} == {0, 1}  # type: ignore[attr-defined]


def test_a_column_of_means_has_one_precision() -> None:
    wide, narrow, exact = estimate([2.1, 2.4, 2.3]), estimate([2.6001, 2.6002, 2.6004]), estimate([2.0, 2.0])
    decimals = shared_decimals([wide, narrow, exact])
    metric = Metric("transfer_time_s", "Transfer time", "s")
    printed = [mean(one, metric, decimals) for one in (wide, narrow, exact)]
    assert len({len(text) for text in printed}) == 1
    # An interval that this would close is printed as finely as it needs.
    assert interval(narrow, decimals=1) == interval(narrow)


def test_broken_scenario_draws_no_path() -> None:
    assert path_from_scenario("not toml [") is None
    assert path_from_scenario("") is None


def test_many_variants_are_capped_and_named(toy: ReportInput) -> None:
    names = [f"v{i:02}" for i in range(20)]
    rows = [
        {"variant": n, "seed": 1, "engine": "sim", "transfer_time_s": 1.0 + i} for i, n in enumerate(names)
    ]
    assert toy.load_trace is not None
    trace = toy.load_trace(next(iter(toy.cells())))
    report = replace(
        toy,
        metrics=pl.DataFrame(rows),
        variants=[Variant(n) for n in names],
        load_trace=lambda _: trace,
        traced=(),
    )
    html = render_report(report)
    series = embedded(html)["series"]
    assert isinstance(series, list)
    assert len(series) == 12
    assert "8 further variants not drawn here" in html


@pytest.mark.parametrize("kind", ["sequence", "cwnd", "ack-rate", "distribution"])
@pytest.mark.parametrize(("suffix", "magic"), [(".pdf", b"%PDF"), (".svg", b"<?xml"), (".png", b"\x89PNG")])
def test_figures_are_vector_files_of_equal_bytes(
    toy: ReportInput, tmp_path: Path, kind: str, suffix: str, magic: bytes
) -> None:
    pytest.importorskip("matplotlib")
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    write_figure(toy, first, kind)  # type: ignore[arg-type]
    write_figure(toy, second, kind)  # type: ignore[arg-type]
    assert first.read_bytes().startswith(magic)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("file", "choice", "message"),
    [
        ("f.gif", {}, "must end in one of .pdf, .svg, .png"),
        ("f.pdf", {"variant": "nobody"}, "no variant 'nobody'; there are: legacy"),
        ("f.pdf", {"seed": 99}, "no seed 99 of 'legacy'; there are: 1, 2"),
    ],
)
def test_impossible_figures_say_why(
    toy: ReportInput, tmp_path: Path, file: str, choice: dict[str, object], message: str
) -> None:
    with pytest.raises(LasthopError, match=re.escape(message)):
        write_figure(toy, tmp_path / file, **choice)  # type: ignore[arg-type]


def test_figure_of_an_unrecorded_cell_names_the_lack(toy: ReportInput, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(LasthopError, match="neither samples nor packets were recorded"):
        write_figure(replace(toy, traced=()), tmp_path / "f.pdf", seed=9)


def test_deviations_and_inputs_do_not_count() -> None:
    given = {"source": "s", "item": "t", "at": {}, "published": 1.0, "n": 30, "engine": "sim"}
    rows = published_rows(
        [
            {**given, "quantity": "mean_s", "ours": 1.1, "verdict": "agrees"},
            {**given, "quantity": "std_s", "ours": 9.0, "verdict": "differs"},
            {**given, "quantity": "mean_s", "ours": 1.0, "verdict": "input"},
            {**given, "quantity": "mean_s", "ours": None, "verdict": "missing"},
        ]
    )
    assert [row.counts for row in rows] == [True, False, False, False]
    assert "10\N{NO-BREAK SPACE}%; 1 of 1 number within" in published_sentence(rows)


def test_remarks_stand_below_their_table(toy: ReportInput) -> None:
    html = render_report(replace(toy, remarks={"ciminieri/table-7.13": "The testbed was warmer."}))
    assert '<p class="note">The testbed was warmer.</p>' in html
