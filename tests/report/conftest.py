"""One report of toy runs, written once, and a browser to look at it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lasthop.report import ReportInput, write_report

from . import synthetic

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
]


@pytest.fixture(scope="session")
def toy() -> ReportInput:
    """Three variants, twelve seeds, one engine."""
    return synthetic.report_input()


@pytest.fixture(scope="session")
def both() -> ReportInput:
    """The same on two engines."""
    return synthetic.report_input(seeds=6, engines=("sim", "kernel"), traced_seeds=2)


@pytest.fixture(scope="session")
def page_file(toy: ReportInput, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report as a file."""
    return write_report(toy, tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="session")
def both_file(both: ReportInput, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of two engines as a file."""
    return write_report(both, tmp_path_factory.mktemp("report") / "both.html")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, headless."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not installed")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield running
        running.close()
