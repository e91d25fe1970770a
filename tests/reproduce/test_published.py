"""Reading published tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from lasthop.errors import LasthopError
from lasthop.reproduce import SOURCES
from lasthop.reproduce.model import Layout
from lasthop.reproduce.published import read_numbers
from support import ROOT

TABLE = """# a source, table 1
mode,divacks,mean_s,std_s
legacy,0,3.12,0.19
controlled,12,2.35,
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "table-1.csv"
    file.write_text(TABLE)
    return file


def test_rows_are_named_by_their_keys_and_empty_fields_are_skipped(table: Path) -> None:
    numbers = read_numbers(table, "table-1", Layout(keys=("mode", "divacks"), spreads={"mean_s": "std_s"}))
    found = [(dict(n.at), n.quantity, n.value, n.spread, n.is_spread) for n in numbers]
    assert found == [
        ({"mode": "legacy", "divacks": 0}, "mean_s", 3.12, 0.19, False),
        ({"mode": "legacy", "divacks": 0}, "std_s", 0.19, None, True),
        ({"mode": "controlled", "divacks": 12}, "mean_s", 2.35, None, False),
    ]


def test_a_missing_column_is_named(table: Path) -> None:
    with pytest.raises(LasthopError, match="no column rtt_ms"):
        read_numbers(table, "table-1", Layout(keys=("rtt_ms",)))


def test_a_field_that_is_no_number_is_named(table: Path) -> None:
    with pytest.raises(LasthopError, match="'legacy' is not a number"):
        read_numbers(table, "table-1", Layout(keys=("divacks",)))


def test_every_published_table_of_a_source_is_an_item() -> None:
    for source in SOURCES:
        files = {file.stem for file in (ROOT / "published" / source.name).glob("*.csv")}
        assert files == {item.name for item in source.items if item.layout is not None}


def test_every_scenario_an_item_or_claim_names_is_there() -> None:
    for source in SOURCES:
        named = [part.scenarios for part in source.items]
        named += [part.scenarios for part in source.claims]
        named += [part.scenarios for part in source.sections]
        for name in {name for names in named for name in names}:
            assert (ROOT / "scenarios" / name).is_file(), name
