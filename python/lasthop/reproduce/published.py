"""The sources' numbers, read from CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from lasthop.errors import LasthopError
from lasthop.reproduce.model import AtValue, Layout, PublishedNumber


def read_numbers(file: Path, item: str, layout: Layout) -> list[PublishedNumber]:
    """Every number of a table; lines that begin with ``#`` are remarks, empty fields are skipped.

    Raises:
        LasthopError: When the file is missing or does not have the layout's columns.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise LasthopError(f"{file}: cannot be read: {error.strerror}") from None
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    reader = csv.DictReader(lines)
    columns = list(reader.fieldnames or [])
    expected = (*layout.keys, *layout.spreads, *layout.spreads.values())
    missing = [name for name in expected if name not in columns]
    if missing:
        raise LasthopError(f"{file}: has no column {', '.join(missing)}")
    values = [name for name in columns if name not in layout.keys]
    return [number for record in reader for number in _numbers(file, record, values, item, layout)]


def _numbers(
    file: Path, record: dict[str, str], columns: list[str], item: str, layout: Layout
) -> Iterator[PublishedNumber]:
    at = {key: spell(record[key]) for key in layout.keys if record[key] != ""}
    spreads = set(layout.spreads.values())
    for column in columns:
        if record[column] == "":
            continue
        beside = layout.spreads.get(column)
        spread = _number(file, record[beside]) if beside and record[beside] else None
        yield PublishedNumber(
            item, column, at, _number(file, record[column]), spread, is_spread=column in spreads
        )


def spell(text: str) -> AtValue:
    """A field as the number it spells, or as it is.

    >>> spell("12"), spell("0.5"), spell("legacy")
    (12, 0.5, 'legacy')
    """
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if text.lstrip("+-").isdigit() else number


def _number(file: Path, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise LasthopError(f"{file}: {text!r} is not a number") from None
