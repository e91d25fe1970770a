"""The drawn path in a real browser: its words stay apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lasthop.report import path_from_scenario
from lasthop.report.diagram import draw_path
from support import ROOT

pytestmark = pytest.mark.browser

STYLE = (ROOT / "python/lasthop/report/templates/report.css").read_text(encoding="utf-8")
SCENARIOS = sorted((ROOT / "scenarios").rglob("*.toml"))
TOUCHING_WORDS = """() => {
    const texts = [...document.querySelectorAll("svg text")];
    const words = texts.map(text => [text.textContent, text.getBoundingClientRect()]);
    const found = words.filter(([, box]) => box.width === 0).map(([word]) => ["invisible", word]);
    words.forEach(([one, a], index) => words.slice(index + 1).forEach(([other, b]) => {
        const beside = a.right + 2 < b.left || b.right + 2 < a.left;
        const above = a.bottom - 3 < b.top + 3 || b.bottom - 3 < a.top + 3;
        if (!beside && !above) found.push([one, other]);
    }));
    return found;
}"""


@pytest.mark.parametrize(("orientation", "width"), [("horizontal", 1280), ("vertical", 390)])
def test_words_of_every_scenarios_path_stay_apart(browser: Any, orientation: Any, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    touching = {}
    for file in SCENARIOS:
        path = path_from_scenario(file.read_text(encoding="utf-8"), {})
        assert path is not None, file
        page.set_content(f"<style>{STYLE}</style><main>{draw_path(path, orientation)}</main>")
        found = page.evaluate(TOUCHING_WORDS)
        if found:
            touching[_name(file)] = found
    page.close()
    assert touching == {}


def _name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()
