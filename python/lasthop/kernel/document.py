"""The part of the validation page that sets the simulator beside the Linux stack."""

from __future__ import annotations

import platform
import re
import statistics
from collections.abc import Sequence
from pathlib import Path

from lasthop.kernel.compare import Row

_BEGIN = "<!-- written by lasthop compare -->"
_END = "<!-- end of what lasthop compare wrote -->"
_SECTION = re.compile(f"{re.escape(_BEGIN)}.*?{re.escape(_END)}\n?", re.DOTALL)


def engines_section(rows: Sequence[Row], seeds: int) -> str:
    """Both engines' numbers and what their differences come from, as Markdown between two marks."""
    text = (Path(__file__).parent / "prose" / "engines.md").read_text(encoding="utf-8")
    body = text.strip().format(
        kernel=".".join(platform.release().split(".")[:2]),
        seeds=seeds,
        table="\n".join(_table(rows)),
        median=_medians(rows),
    )
    return f"{_BEGIN}\n{body}\n{_END}\n"


def kept_section(page: str) -> str:
    """The part of ``page`` between the marks, with them; empty when it has none.

    >>> kept_section("# Validation")
    ''
    """
    found = _SECTION.search(page)
    return found.group() if found else ""


def with_section(page: str, section: str) -> str:
    """``page`` with ``section`` in place of its old one, or at its end; an empty one changes nothing."""
    if not section:
        return page
    if _SECTION.search(page):
        return _SECTION.sub(lambda _: section, page)
    return f"{page.rstrip()}\n\n{section}"


def _table(rows: Sequence[Row]) -> list[str]:
    lines = [
        "| scenario | variant | time, s | differs by | retransmissions | cwnd |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [
            row.scenario.removeprefix("compare-"),
            row.variant,
            _pair(row.times_s, 3),
            _percent(row.difference),
            _pair(row.retransmissions, 0),
            " / ".join(" ".join(_number(value, 0) for value in windows) for windows in row.windows),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _medians(rows: Sequence[Row]) -> str:
    sentences = []
    for random_loss, what in ((False, "without random loss"), (True, "with random loss")):
        parts = [
            abs(row.difference)
            for row in rows
            if row.difference is not None and row.random_loss == random_loss
        ]
        if parts:
            sentences.append(
                f"{what} {100 * statistics.median(parts):.2f} % over {len(parts)} variants, "
                f"at most {100 * max(parts):.1f} %"
            )
    return "; ".join(sentences)


def _pair(values: tuple[float | None, float | None], digits: int) -> str:
    return " / ".join(_number(value, digits) for value in values)


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:+.1f} %"
