"""Chooses items, runs them, joins them with the published numbers."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from lasthop.errors import LasthopError
from lasthop.reproduce.lab import Lab
from lasthop.reproduce.model import (
    AtValue,
    ClaimTest,
    DecidedClaim,
    Item,
    ItemOutcome,
    Outcome,
    PublishedNumber,
    Row,
    Source,
)
from lasthop.reproduce.published import read_numbers
from lasthop.reproduce.verdict import judge
from lasthop.stats import Estimate

Found = TypeVar("Found")

_NOTHING = Estimate(None, None, None, 0)


@dataclass(frozen=True)
class Selection:
    """What is to be reproduced of one source."""

    source: Source
    items: Sequence[Item]
    claims: Sequence[ClaimTest]


def select(sources: Sequence[Source], names: Sequence[str]) -> list[Selection]:
    """What ``SOURCE`` and ``SOURCE/ITEM`` stand for; everything when nothing is named.

    A claim is taken along when its whole source is, or when the items named
    run everything it needs.

    Raises:
        LasthopError: When there is no such source or item.
    """
    wanted: dict[str, list[str] | None] = {}
    for name in names or [source.name for source in sources]:
        head, _, item = name.partition("/")
        source = _find(head, {source.name: source for source in sources}, "source")
        if not item:
            wanted[head] = None
            continue
        _find(item, {entry.name: entry for entry in source.items}, f"item of {head}")
        chosen = wanted.setdefault(head, [])
        if chosen is not None:
            chosen.append(item)
    return [_selection(source, wanted[source.name]) for source in sources if source.name in wanted]


def _selection(source: Source, names: Sequence[str] | None) -> Selection:
    if names is None:
        return Selection(source, source.items, source.claims)
    items = [item for item in source.items if item.name in names]
    there = {scenario for item in items for scenario in item.scenarios}
    return Selection(source, items, [claim for claim in source.claims if there.issuperset(claim.scenarios)])


def _find(name: str, known: dict[str, Found], what: str) -> Found:
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
        raise LasthopError(f"no {what} {name!r}; {hint}")
    return known[name]


def perform(lab: Lab, selections: Sequence[Selection]) -> Outcome:
    """Runs what is selected and compares it."""
    items = [_item(lab, part.source, item) for part in selections for item in part.items]
    claims = [
        DecidedClaim(part.source.name, claim.text, claim.decide(lab))
        for part in selections
        for claim in part.claims
    ]
    return Outcome(items, claims, lab.engine, lab.seeds)


def _item(lab: Lab, source: Source, item: Item) -> ItemOutcome:
    numbers: list[PublishedNumber] = []
    if item.layout is not None:
        file = lab.root / "published" / source.name / f"{item.name}.csv"
        numbers = read_numbers(file, item.name, item.layout)
    measured = item.measure(lab, numbers)
    ours = {_key(m.quantity, m.at.items()): m.estimate for m in measured}
    rows = []
    for number in numbers:
        found = ours.get(_key(number.quantity, number.at.items()), _NOTHING)
        rows.append(Row(source.name, number, found, lab.engine, judge(number, found, item.role)))
    return ItemOutcome(source.name, item, rows, measured)


def _key(quantity: str, at: Iterable[tuple[str, AtValue]]) -> tuple[str, frozenset[tuple[str, AtValue]]]:
    return quantity, frozenset(at)
