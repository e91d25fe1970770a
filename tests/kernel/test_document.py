"""The engines' part of the validation page."""

from __future__ import annotations

from lasthop.kernel.compare import Row
from lasthop.kernel.document import engines_section, kept_section, with_section


def row(variant: str, simulated: float, real: float, random_loss: bool = False) -> Row:
    return Row(
        scenario="compare-wired",
        variant=variant,
        random_loss=random_loss,
        times_s=(simulated, real),
        retransmissions=(3.0, 4.0),
        rtt_s=0.02,
        windows=([10.0, 20.0], [10.0, None]),
        invalid=0,
    )


def test_the_section_has_every_variant_and_both_medians() -> None:
    section = engines_section([row("a", 2.0, 2.1), row("b", 1.0, 1.1, random_loss=True)], seeds=3)
    assert "| wired | a | 2.000 / 2.100 | +5.0 % | 3 / 4 | 10 20 / 10 – |" in section
    assert "without random loss 5.00 % over 1 variants" in section
    assert "with random loss 10.00 % over 1 variants" in section


def test_a_page_keeps_one_section_whoever_writes_it_again() -> None:
    first = engines_section([row("a", 2.0, 2.1)], seeds=3)
    second = engines_section([row("b", 1.0, 1.1)], seeds=3)
    page = with_section("# Validation\n", first)
    renewed = with_section(page, second)
    assert kept_section(renewed) == second
    assert "| a |" not in renewed
    rewritten = with_section("# Validation, again\n", kept_section(renewed))
    assert rewritten == f"# Validation, again\n\n{second}"
    assert with_section("# No section\n", kept_section("")) == "# No section\n"
