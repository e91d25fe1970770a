"""Choosing, running and joining."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lasthop.errors import LasthopError
from lasthop.reproduce import SOURCES, Lab, Outcome, perform, select
from support import ROOT, Command, summary_of


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    """The two items of the demonstration with few seeds."""
    lab = Lab(ROOT, seeds=4)
    return perform(lab, select(SOURCES, ["ciminieri/table-7.13", "ciminieri/table-7.15"]))


def test_nothing_named_means_everything() -> None:
    parts = select(SOURCES, [])
    assert [part.source.name for part in parts] == ["ciminieri", "arcia-moret"]
    assert len(parts[0].claims) == 5


def test_claims_come_with_the_items_that_run_what_they_need() -> None:
    (part,) = select(SOURCES, ["ciminieri/table-7.4"])
    assert [item.name for item in part.items] == ["table-7.4"]
    assert [claim.text for claim in part.claims] == ["7 to 14 divided ACKs per ACK are best"]


@pytest.mark.parametrize(
    ("name", "hint"), [("ciminiery", "mean ciminieri"), ("ciminieri/table-7", "mean table-7")]
)
def test_a_misspelt_name_gets_a_hint(name: str, hint: str) -> None:
    with pytest.raises(LasthopError, match=hint):
        select(SOURCES, [name])


def test_every_published_number_is_answered(outcome: Outcome) -> None:
    rows = [row for item in outcome.items for row in item.rows]
    assert len(rows) == 12
    assert all(row.ours.mean is not None for row in rows)


def test_transfer_times_of_table_7_13_agree(outcome: Outcome) -> None:
    verdicts = {
        row.number.at["mode"]: row.verdict for row in outcome.items[0].rows if row.number.quantity == "mean_s"
    }
    assert verdicts == {"legacy": "agrees", "brute-force": "agrees", "controlled": "agrees"}


def test_only_means_enter_the_median(outcome: Outcome) -> None:
    assert len(outcome.items[0].counted_errors) == 3
    assert outcome.items[0].median_error is not None
    assert outcome.items[0].median_error < 0.15


def test_the_same_seeds_give_the_same_outcome(outcome: Outcome) -> None:
    again = perform(Lab(ROOT, seeds=4), select(SOURCES, ["ciminieri/table-7.13"]))
    assert again.items[0].rows == outcome.items[0].rows


def test_cwnd_of_table_7_9_follows_the_acks() -> None:
    lab = Lab(ROOT, seeds=1)
    (item,) = perform(lab, select(SOURCES, ["ciminieri/table-7.9"])).items
    cwnd = {row.number.at["rtt"]: row.ours.mean for row in item.rows if row.number.quantity == "cwnd_mss"}
    # 3 segments, each answered by 13 ACKs, as tcp_probe sees it before the last one counts.
    assert (cwnd[1], cwnd[2]) == (3, 41)


def test_json_holds_rows_and_claims(lasthop_command: Command) -> None:
    done = lasthop_command("reproduce", "ciminieri/table-7.4", "--seeds", "3", "--json")
    found = summary_of(done)
    assert sorted(found) == ["claims", "rows"]
    row = found["rows"][0]
    columns = "source item quantity at published ours ci_low ci_high n engine verdict"
    assert " ".join(row) == columns
    assert (row["source"], row["item"], row["at"]) == ("ciminieri", "table-7.4", {"divacks": 0})
    assert isinstance(row["published"], float)
    assert sorted(found["claims"][0]) == ["claim", "evidence", "holds", "source"]
    assert isinstance(found["claims"][0]["holds"], bool)


def test_a_report_is_written(lasthop_command: Command, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = lasthop_command("reproduce", "ciminieri/table-7.13", "--seeds", "2", "--report-file", page)
    assert done.returncode == 0, done.stderr
    assert "3.12" in page.read_text(encoding="utf-8")


def test_runs_are_kept_and_continued(lasthop_command: Command, tmp_path: Path) -> None:
    for seeds in ("2", "3"):
        done = lasthop_command(
            "reproduce", "ciminieri/table-7.13", "--seeds", seeds, "--out", tmp_path, "--json"
        )
        assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "ciminieri" / "table-7.13" / "manifest.json").read_text())
    assert manifest["seeds"] == [1, 2, 3]


def test_an_unknown_item_is_an_error_of_one_line(lasthop_command: Command) -> None:
    done = lasthop_command("reproduce", "ciminieri/table-9.9")
    assert done.returncode == 2
    assert done.stderr.startswith("error: no item of ciminieri 'table-9.9'")
