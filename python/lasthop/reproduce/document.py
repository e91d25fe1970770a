"""The validation page, made from a reproduction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lasthop.reproduce.ciminieri_sections import counting_sentence, prose, table
from lasthop.reproduce.lab import Lab
from lasthop.reproduce.model import ItemOutcome, Measured, Outcome, Source, median
from lasthop.reproduce.perform import Selection
from lasthop.reproduce.text import spell_at, spell_error, spell_ours, spell_ratio

AIM = (
    ("ciminieri", "table-7.4"),
    ("ciminieri", "table-7.7"),
    ("ciminieri", "table-7.13"),
    ("ciminieri", "table-7.15"),
)
"""The tables whose common median error is the measure of the whole."""


def validation_page(lab: Lab, selections: Sequence[Selection], outcome: Outcome) -> str:
    """The page as Markdown."""
    head = prose("head", seeds=str(outcome.seeds), engine=outcome.engine)
    parts = [head + "\n", _summary(outcome), _claims(outcome)]
    parts.append(f"{counting_sentence(lab)}\n")
    for part in selections:
        parts.append(_source(part.source, [o for o in outcome.items if o.source == part.source.name]))
        parts.extend(f"### {s.title}\n\n{s.write(lab)}\n" for s in part.source.sections)
    return "\n".join(parts)


def overall_error(outcome: Outcome) -> float | None:
    """Median absolute error over the tables of the aim; None unless all are there."""
    there = {(o.source, o.item.name) for o in outcome.items}
    if not there.issuperset(AIM):
        return None
    return median(
        [error for o in outcome.items if (o.source, o.item.name) in AIM for error in o.counted_errors]
    )


def _summary(outcome: Outcome) -> str:
    rows = []
    for item in outcome.items:
        if not item.rows:
            continue
        verdicts = Counter(row.verdict for row in item.rows)
        error = item.median_error
        rows.append(
            [
                f"{item.source} {item.item.name}",
                item.item.title,
                "–" if error is None else f"{100 * error:.1f} %",
                ", ".join(f"{n} {verdict}" for verdict, n in verdicts.most_common()),
            ]
        )
    text = "## Summary\n\n" + table(["table", "what", "median error", "verdicts"], rows)
    overall = overall_error(outcome)
    if overall is not None:
        text += (
            "\n\nOver tables 7.4, 7.7, 7.13 and the before-handover column of 7.15 together the median "
            f"absolute error is **{100 * overall:.1f} %**."
        )
    return text + "\n"


def _claims(outcome: Outcome) -> str:
    spelt = {True: "holds", False: "does not hold", None: "undecided"}
    lines = ["## The sources' claims", ""]
    lines += [
        f"- *{claim.source}:* {claim.text}: **{spelt[claim.decision.holds]}**. {claim.decision.evidence}"
        for claim in outcome.claims
    ]
    return "\n".join([*lines, ""])


def _source(source: Source, outcomes: Sequence[ItemOutcome]) -> str:
    return "\n".join([f"## {source.title}\n", *map(_item, outcomes)])


def _item(outcome: ItemOutcome) -> str:
    item = outcome.item
    files = ", ".join(f"`scenarios/{name}`" for name in item.scenarios)
    head = f"### {item.name}: {item.title}\n\n{files}. {spell_error(outcome)}".rstrip() + "\n\n"
    if outcome.rows:
        body = table(
            ["at", "quantity", "published", "ours (95 % CI)", "ratio", "verdict"],
            [
                [
                    spell_at(row.number.at),
                    row.number.quantity,
                    f"{row.number.value:.10g}",
                    spell_ours(row.ours),
                    spell_ratio(row),
                    row.verdict,
                ]
                for row in outcome.rows
            ],
        )
    else:
        body = _figure(outcome)
    disagrees = any(row.verdict in ("close", "differs") for row in outcome.rows)
    cause = f"\n\n*Most likely cause of what differs:* {item.cause}" if item.cause and disagrees else ""
    return f"{head}{body}{cause}\n"


def _figure(outcome: ItemOutcome) -> str:
    """A figure's values; the source prints curves, so ours stand alone."""
    quantities = list(dict.fromkeys(m.quantity for m in outcome.measured))
    tables = [
        f"`{quantity}`:\n\n{_grid([m for m in outcome.measured if m.quantity == quantity])}"
        for quantity in quantities
    ]
    return "The source prints curves. Ours, means over the seeds, " + "\n\n".join(tables)


def _grid(measured: Sequence[Measured]) -> str:
    """One quantity, its first key down and its last key across."""
    first, last = next(iter(measured[0].at)), list(measured[0].at)[-1]
    rows = list(dict.fromkeys(str(m.at[first]) for m in measured))
    columns = list(dict.fromkeys(str(m.at[last]) for m in measured))
    cells = {(str(m.at[first]), str(m.at[last])): spell_mean(m.estimate.mean) for m in measured}
    return table(
        [f"{last} →", *columns], [[row, *(cells.get((row, c), "–") for c in columns)] for row in rows]
    )


def spell_mean(value: float | None) -> str:
    """A mean in few digits.

    >>> spell_mean(2.5371), spell_mean(None)
    ('2.54', '–')
    """
    return "–" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
