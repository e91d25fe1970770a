"""The validation page."""

from __future__ import annotations

from lasthop.reproduce import SOURCES, Lab, perform, select
from lasthop.reproduce.document import overall_error, validation_page
from lasthop.reproduce.model import median
from support import ROOT


def test_the_page_has_every_item_and_claim_and_no_gaps() -> None:
    lab = Lab(ROOT, seeds=2)
    parts = select(SOURCES, [])
    outcome = perform(lab, parts)
    page = validation_page(lab, parts, outcome)
    for source in SOURCES:
        for item in source.items:
            assert f"### {item.name}: {item.title}" in page
        for claim in source.claims:
            assert claim.text in page
        for section in source.sections:
            assert f"### {section.title}" in page
    assert "nan" not in page
    assert "None" not in page


def test_the_aim_is_one_median_over_all_its_numbers() -> None:
    lab = Lab(ROOT, seeds=2)
    names = [f"ciminieri/table-{table}" for table in ("7.4", "7.7", "7.13", "7.15")]
    outcome = perform(lab, select(SOURCES, names))
    errors = [error for item in outcome.items for error in item.counted_errors]
    assert len(errors) == 6 + 12 + 3 + 3
    assert overall_error(outcome) == median(errors)
    assert overall_error(perform(lab, select(SOURCES, names[:2]))) is None
