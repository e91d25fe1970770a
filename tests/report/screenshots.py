"""Takes the pictures of a report that README and docs show.

usage: python tests/report/screenshots.py REPORT DIRECTORY
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHROMIUM = Path("/usr/bin/chromium")
#: A page is far longer than a reader looks at in a picture.
TALLEST = 1800


@dataclass(frozen=True)
class Picture:
    """One picture: the part of the page that begins at an element."""

    name: str
    width: int
    scheme: str
    #: Where it begins; the top of the page when empty.
    start: str = ""
    height: int = TALLEST
    #: What to choose before: a select element and its option.
    choose: tuple[str, str] | None = None


PICTURES = (
    Picture("report-1280", 1280, "light", height=1500),
    Picture("report-390", 390, "light"),
    Picture("report-dark", 1280, "dark", "#time", 1400, ("#pick-a", "legacy default")),
)


def take(report: Path, directory: Path) -> Iterator[Path]:
    """Takes every picture and returns the files one by one."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        for picture in PICTURES:
            page = _open(browser, report, picture)
            file = directory / f"{picture.name}.png"
            top = page.locator(picture.start).bounding_box()["y"] if picture.start else 0
            clip = {"x": 0, "y": top, "width": picture.width, "height": picture.height}
            page.screenshot(path=file, full_page=True, clip=clip)
            yield file
        browser.close()


def _open(browser: Any, report: Path, picture: Picture) -> Any:
    context = browser.new_context(
        viewport={"width": picture.width, "height": 900}, color_scheme=picture.scheme
    )
    page = context.new_page()
    page.goto(report.resolve().as_uri())
    page.wait_for_selector("html[data-drawn=yes]")
    if picture.choose is not None:
        selector, label = picture.choose
        if page.locator(f"{selector} option", has_text=label).count():
            page.select_option(selector, label=label)
    # The bar that stays at the top would lie across the picture.
    page.add_style_tag(content=".top, .controls { position: static !important; }")
    page.wait_for_timeout(300)
    return page


if __name__ == "__main__":
    for written in take(Path(sys.argv[1]), Path(sys.argv[2])):
        sys.stdout.write(f"{written}: {written.stat().st_size // 1024} KB\n")
