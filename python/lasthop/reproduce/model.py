"""What a reproduction is made of: published numbers, ours, verdicts, claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from lasthop.stats import Estimate

if TYPE_CHECKING:
    from lasthop.reproduce.lab import Lab

AtValue: TypeAlias = int | float | str
At: TypeAlias = Mapping[str, AtValue]
"""Which row of a table a number stands in, by the row's key columns."""

Verdict = Literal["agrees", "close", "differs", "input", "calibration", "missing"]

Role = Literal["compared", "input", "calibration"]
"""What an item is for: a result to be met, a setting that was taken over, or
the one measurement that was used to choose a setting."""


@dataclass(frozen=True)
class PublishedNumber:
    """One number of a published table.

    Attributes:
        item: The table, named as its CSV file.
        quantity: The column, with its unit.
        at: The row.
        value: The number.
        spread: The standard deviation printed beside it, if there is one.
        is_spread: Whether it is itself a standard deviation.
    """

    item: str
    quantity: str
    at: At
    value: float
    spread: float | None = None
    is_spread: bool = False


@dataclass(frozen=True)
class Layout:
    """How the columns of a published table are meant.

    Attributes:
        keys: Columns that name the row.
        spreads: Columns with standard deviations, by the column they belong to.
    """

    keys: Sequence[str]
    spreads: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """Our value for one number.

    Attributes:
        quantity: The column it answers.
        at: The row it answers.
        estimate: Mean over the seeds with its 95 % interval.
    """

    quantity: str
    at: At
    estimate: Estimate


@dataclass(frozen=True)
class Row:
    """A published number with ours beside it."""

    source: str
    number: PublishedNumber
    ours: Estimate
    engine: str
    verdict: Verdict

    @property
    def ratio(self) -> float | None:
        """Ours over published."""
        if self.ours.mean is None or self.number.value == 0:
            return None
        return self.ours.mean / self.number.value

    @property
    def error(self) -> float | None:
        """Relative distance from the published number."""
        ratio = self.ratio
        return None if ratio is None else abs(ratio - 1.0)

    def to_dict(self) -> dict[str, object]:
        """The row as plain data."""
        return {
            "source": self.source,
            "item": self.number.item,
            "quantity": self.number.quantity,
            "at": dict(self.number.at),
            "published": self.number.value,
            "ours": self.ours.mean,
            "ci_low": self.ours.low,
            "ci_high": self.ours.high,
            "n": self.ours.n,
            "engine": self.engine,
            "verdict": self.verdict,
        }


Measure = Callable[["Lab", Sequence[PublishedNumber]], list[Measured]]
"""Takes our values from the lab's runs, given the published numbers to answer."""


@dataclass(frozen=True)
class Item:
    """One table or figure of a source.

    Attributes:
        name: The CSV's name without suffix, or the figure's name.
        title: What it shows, in one line.
        scenarios: Files under ``scenarios/`` it needs.
        measure: Takes the numbers from the runs.
        layout: How the CSV is to be read; None for a figure, which has no numbers.
        role: What the item is for.
        counts: Columns that enter the table's median error; all but spreads when empty.
        main: The scenario whose runs a report draws; none when empty.
        cause: Where we disagree, the most likely cause; shown in the validation page.
    """

    name: str
    title: str
    scenarios: Sequence[str]
    measure: Measure
    layout: Layout | None = None
    role: Role = "compared"
    counts: Sequence[str] = ()
    main: str = ""
    cause: str = ""


@dataclass(frozen=True)
class Decision:
    """Whether a claim holds here; None when the runs cannot tell."""

    holds: bool | None
    evidence: str


@dataclass(frozen=True)
class ClaimTest:
    """A claim of a source and how it is decided.

    Attributes:
        text: The claim in one sentence.
        scenarios: Files under ``scenarios/`` it needs.
        decide: Looks at the runs.
    """

    text: str
    scenarios: Sequence[str]
    decide: Callable[[Lab], Decision]


@dataclass(frozen=True)
class Section:
    """A passage of the validation page that comes from runs of its own.

    Attributes:
        title: Its heading.
        scenarios: Files under ``scenarios/`` it needs.
        write: Makes Markdown of the runs.
    """

    title: str
    scenarios: Sequence[str]
    write: Callable[[Lab], str]


@dataclass(frozen=True)
class Source:
    """A publication: its items, its claims, and what else is to be shown."""

    name: str
    title: str
    items: Sequence[Item]
    claims: Sequence[ClaimTest] = ()
    sections: Sequence[Section] = ()


@dataclass(frozen=True)
class DecidedClaim:
    """A claim with its decision."""

    source: str
    text: str
    decision: Decision

    def to_dict(self) -> dict[str, object]:
        """The claim as plain data."""
        return {
            "source": self.source,
            "claim": self.text,
            "holds": self.decision.holds,
            "evidence": self.decision.evidence,
        }


@dataclass(frozen=True)
class ItemOutcome:
    """What an item came to."""

    source: str
    item: Item
    rows: Sequence[Row]
    measured: Sequence[Measured]

    @property
    def counted_errors(self) -> list[float]:
        """Relative errors of the numbers that count."""
        counts = self.item.counts
        return [
            row.error
            for row in self.rows
            if row.error is not None
            and not row.number.is_spread
            and row.verdict in ("agrees", "close", "differs")
            and (not counts or row.number.quantity in counts)
        ]

    @property
    def median_error(self) -> float | None:
        """Median of the absolute relative errors; None without a number to compare."""
        return median(self.counted_errors)


def median(values: Sequence[float]) -> float | None:
    """The median; None of nothing.

    >>> median([0.3, 0.1]), median([])
    (0.2, None)
    """
    if not values:
        return None
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


@dataclass(frozen=True)
class Outcome:
    """Everything a reproduction found."""

    items: Sequence[ItemOutcome]
    claims: Sequence[DecidedClaim]
    engine: str
    seeds: int

    def to_dict(self) -> dict[str, object]:
        """``{rows, claims}`` as plain data."""
        return {
            "rows": [row.to_dict() for outcome in self.items for row in outcome.rows],
            "claims": [claim.to_dict() for claim in self.claims],
        }
