"""The page in a real browser: drawn, linked, readable, silent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lasthop.report import CellKey, ReportInput, Trace, join_reports, write_report

pytestmark = pytest.mark.browser

TIME_PLOTS = [f"{row}-{side}" for row in ("sequence", "window", "acks", "airtime") for side in "ab"]
OTHER_PLOTS = ["airtime-total", "spread-plot", "published-plot"]

Opener = Callable[..., Any]


@pytest.fixture
def open_page(browser: Any) -> Iterator[Opener]:
    """Opens a file, waits until it is drawn, and keeps what the browser complains about."""
    contexts = []

    def open_file(file: Path, width: int = 1280, scheme: str = "light", **options: Any) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.complaints, page.requested = [], []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("request", lambda request: page.requested.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-drawn=yes]")
        return page

    yield open_file
    for context in contexts:
        context.close()


def _range(page: Any, plot: str) -> list[float]:
    found: list[float] = page.evaluate("id => document.getElementById(id)._fullLayout.xaxis.range", plot)
    return found


def _drawn_shapes(page: Any, plot: str) -> int:
    """How many line or bar elements with a real outline a plot holds."""
    count: int = page.evaluate(
        """id => [...document.getElementById(id).querySelectorAll(
            '.scatterlayer path, .barlayer path')]
            .filter(p => (p.getAttribute('d') || '').length > 8).length""",
        plot,
    )
    return count


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_opens_silently_without_network_or_overflow(
    open_page: Opener, page_file: Path, width: int, scheme: str
) -> None:
    page = open_page(page_file, width, scheme)
    assert page.complaints == []
    assert [url for url in page.requested if not url.startswith(("file:", "data:", "blob:"))] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    outside = page.evaluate(
        """() => [...document.querySelectorAll('main *')].filter(e => {
             const box = e.getBoundingClientRect();
             return box.width && box.right > innerWidth + 1 && !e.closest('.scroll, pre, .js-plotly-plot');
           }).map(e => e.outerHTML.slice(0, 80))"""
    )
    assert outside == []


@pytest.mark.parametrize("width", [1280, 390])
def test_every_plot_is_drawn(open_page: Opener, page_file: Path, width: int) -> None:
    page = open_page(page_file, width)
    empty = [plot for plot in (*TIME_PLOTS, *OTHER_PLOTS) if _drawn_shapes(page, plot) == 0]
    assert empty == []
    assert page.locator(".diagram svg:visible .wire").count() >= 1
    assert page.locator(".diagram svg:visible .radio").count() == 1


def test_plots_fit_their_column(open_page: Opener, page_file: Path) -> None:
    page = open_page(page_file, 390)
    widths = page.evaluate(
        "ids => ids.map(id => document.querySelector(`#${id} .main-svg`).getBoundingClientRect().width)",
        [*TIME_PLOTS, *OTHER_PLOTS],
    )
    assert all(200 < width <= 390 for width in widths), widths


def test_zooming_one_time_plot_moves_all_others(open_page: Opener, page_file: Path) -> None:
    page = open_page(page_file)
    whole = _range(page, "sequence-a")
    page.evaluate("Plotly.relayout('window-b', {'xaxis.range[0]': 0.8, 'xaxis.range[1]': 1.4})")
    page.wait_for_function("document.getElementById('airtime-a')._fullLayout.xaxis.range[1] === 1.4")
    assert {tuple(_range(page, plot)) for plot in TIME_PLOTS} == {(0.8, 1.4)}
    assert "0.800 – 1.400 s" in page.inner_text("#range")
    page.click("#reset")
    page.wait_for_function(f"document.getElementById('acks-b')._fullLayout.xaxis.range[1] === {whole[1]}")
    assert {tuple(_range(page, plot)) for plot in TIME_PLOTS} == {tuple(whole)}
    assert page.inner_text("#range") == ""


def test_dragging_a_box_zooms_the_others(open_page: Opener, page_file: Path) -> None:
    page = open_page(page_file)
    drag = page.locator("#sequence-a .nsewdrag")
    drag.scroll_into_view_if_needed()
    box = drag.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.3)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.8, steps=6)
    page.mouse.up()
    page.wait_for_function("document.getElementById('range').textContent !== ''")
    ranges = {tuple(round(end, 3) for end in _range(page, plot)) for plot in TIME_PLOTS}
    assert len(ranges) == 1
    assert 0.9 < ranges.pop()[0] < 1.2


def test_keyboard_reaches_zoom_and_variants(open_page: Opener, page_file: Path) -> None:
    page = open_page(page_file)
    before = _range(page, "sequence-a")
    page.focus("[data-zoom=in]")
    page.keyboard.press("Enter")
    page.wait_for_function("document.getElementById('range').textContent !== ''")
    after = _range(page, "acks-b")
    assert after[1] - after[0] == pytest.approx((before[1] - before[0]) / 2, rel=0.01)
    page.focus("#pick-a")
    page.keyboard.press("ArrowDown")
    assert "brute-force 12" in page.inner_text("#sequence-a >> xpath=preceding-sibling::p")


def test_another_variant_can_be_shown_alone(open_page: Opener, page_file: Path) -> None:
    page = open_page(page_file)
    page.select_option("#pick-a", label="controlled 6")
    page.select_option("#pick-b", label="nothing")
    assert page.locator("#sequence-b").is_hidden()
    assert page.inner_text("#sequence-a >> xpath=preceding-sibling::p").startswith("controlled 6")
    assert _drawn_shapes(page, "sequence-a") > 0
    assert page.complaints == []


def test_legend_hides_a_trace_in_both_columns(open_page: Opener, page_file: Path) -> None:
    page = open_page(page_file)
    count = "id => document.getElementById(id).data.length"
    before = [page.evaluate(count, plot) for plot in ("window-a", "window-b")]
    page.click("figure[data-row=window] .legend button:has-text('cwnd')")
    after = [page.evaluate(count, plot) for plot in ("window-a", "window-b")]
    assert after == [n - 1 for n in before]
    button = page.locator("figure[data-row=window] .legend button:has-text('cwnd')")
    assert button.get_attribute("aria-pressed") == "false"


def test_theme_button_changes_page_and_plots(open_page: Opener, page_file: Path) -> None:
    page = open_page(page_file, scheme="light")
    look = """() => [getComputedStyle(document.body).backgroundColor,
                    document.getElementById('spread-plot')._fullLayout.font.color]"""
    light = page.evaluate(look)
    page.click("#theme")
    dark = page.evaluate(look)
    assert light[0] != dark[0]
    assert light[1] != dark[1]


def test_handovers_are_shaded(open_page: Opener, page_file: Path) -> None:
    page = open_page(page_file)
    shapes = page.evaluate("document.getElementById('sequence-a').layout.shapes.map(s => [s.x0, s.x1])")
    assert shapes == [[1.0, 1.2]]


def test_only_runs_of_one_experiment_stand_side_by_side(
    open_page: Opener, toy: ReportInput, tmp_path: Path
) -> None:
    both = join_reports("Both", [replace(toy, tag="First"), replace(toy, tag="Second")])
    page = open_page(write_report(both, tmp_path / "parts.html"))
    heads = page.locator("figure[data-row=sequence] .plot-head")
    assert all(head.startswith("First: ") for head in heads.all_inner_texts())
    assert page.locator("#pick-b option").count() == 1 + len(toy.variants)
    page.select_option("#pick-a", index=len(toy.variants))
    assert all(head.startswith("Second: ") for head in heads.all_inner_texts())
    assert page.locator(".answer").count() == 2
    assert page.complaints == []


def test_interval_texts_stay_inside_their_cell(open_page: Opener, page_file: Path) -> None:
    page = open_page(page_file, 390)
    outside = page.evaluate(
        """() => [...document.querySelectorAll('.ci-text')].filter(e => {
             const own = e.getBoundingClientRect(), cell = e.closest('td').getBoundingClientRect();
             return own.left < cell.left - 1 || own.right > cell.right + 1; }).map(e => e.textContent)"""
    )
    assert outside == []


@pytest.mark.parametrize("form", ["strip", "ecdf"])
def test_distributions_in_both_forms(open_page: Opener, page_file: Path, form: str) -> None:
    page = open_page(page_file)
    page.select_option("#pick-form", form)
    page.select_option("#pick-metric", label="Retransmissions (packets)")
    assert _drawn_shapes(page, "spread-plot") > 0
    assert page.complaints == []


def test_two_engines_side_by_side(open_page: Opener, both_file: Path) -> None:
    page = open_page(both_file)
    heads = page.locator("figure[data-row=sequence] .plot-head").all_inner_texts()
    assert "sim" in heads[0]
    assert "kernel" in heads[1]
    assert heads[0].split(" · ")[0] == heads[1].split(" · ")[0]
    assert page.locator(".answer").count() == 3
    assert page.complaints == []


def test_page_without_scripts_still_answers(browser: Any, page_file: Path) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 900})
    page = context.new_page()
    page.goto(page_file.as_uri())
    assert "wins" in page.inner_text(".headline")
    assert page.locator(".standing tbody tr").count() == 3
    context.close()


def test_prints_to_pdf(open_page: Opener, page_file: Path) -> None:
    page = open_page(page_file)
    pdf = page.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 50_000
    assert page.complaints == []


def test_page_of_published_numbers_alone(open_page: Opener, toy: ReportInput, tmp_path: Path) -> None:
    alone = ReportInput(
        title="Tables",
        metrics=toy.metrics.clear(),
        variants=[],
        published=toy.published,
        claims=toy.claims,
    )
    page = open_page(write_report(alone, tmp_path / "tables.html"))
    assert page.complaints == []
    assert _drawn_shapes(page, "published-plot") > 0
    assert "Median distance" in page.inner_text("#answer")


def test_without_packets_lines_stand_for_segments(
    open_page: Opener, toy: ReportInput, tmp_path: Path
) -> None:
    whole = toy.load_trace
    assert whole is not None

    def samples_only(key: CellKey) -> Trace | None:
        trace = whole(key)
        return None if trace is None else Trace(samples=trace.samples)

    page = open_page(write_report(replace(toy, load_trace=samples_only), tmp_path / "samples.html"))
    assert page.complaints == []
    assert _drawn_shapes(page, "sequence-a") > 0
    assert "highest byte sent" in page.inner_text("figure[data-row=sequence] .legend")
    assert "Packets were not recorded" in page.inner_text("#time")


def test_every_segment_is_at_least_two_pixels_high(open_page: Opener, page_file: Path) -> None:
    page = open_page(page_file)
    heights = page.evaluate(
        """() => { const plot = document.getElementById('sequence-a');
            const [low, high] = plot.layout.yaxis.range;
            const scale = plot._fullLayout.yaxis._length / (high - low);
            const data = plot.data.find(t => t.name === 'segment sent'), found = [];
            for (let i = 0; i < data.y.length; i += 3) found.push((data.y[i + 1] - data.y[i]) * scale);
            return found; }"""
    )
    assert min(heights) > 1.8
