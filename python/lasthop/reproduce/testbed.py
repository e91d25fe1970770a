"""The measurements that Ciminieri's and Arcia-Moret's tables share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from lasthop.reproduce import extract
from lasthop.reproduce.extract import PerSeed
from lasthop.reproduce.lab import Lab
from lasthop.reproduce.model import At, Measure, Measured, PublishedNumber
from lasthop.reproduce.verdict import spread_of
from lasthop.result import Result
from lasthop.stats import Comparison, compare, estimate

MEBI = 2**20
"""The source's Mbit/s are 2^20 bit/s: its own byte counts give exactly that."""

MODES = ("legacy", "brute-force", "controlled")

_SECONDS = {"ms": 1e-3, "s": 1.0, "us": 1e-6}


def seconds(text: str) -> float:
    """A time as spelt in a scenario.

    >>> seconds("1560 ms"), seconds("1 s")
    (1.56, 1.0)
    """
    number, unit = text.split()
    return float(number) * _SECONDS[unit]


def parameter(result: Result, variant: str, name: str) -> str:
    """A parameter of a variant as spelt."""
    return next(v.parameters[name] for v in result.variants if v.name == variant)


def measured(number: PublishedNumber, values: Sequence[float | None]) -> Measured:
    """Our answer to a published number."""
    return Measured(number.quantity, number.at, estimate(values))


def shown(quantity: str, at: At, values: Sequence[float | None]) -> Measured:
    """A value of a figure, which has no published number."""
    return Measured(quantity, at, estimate(values))


def times_measure(scenario: str, variant: Callable[[At], str]) -> Measure:
    """Transfer times (``mean_s``) and their spread (``std_s``) of a variant per row."""

    def measure(lab: Lab, numbers: Sequence[PublishedNumber]) -> list[Measured]:
        result = lab.result(scenario)
        answers = []
        for number in numbers:
            values = extract.transfer_times(result, variant(number.at))
            value = spread_of(values) if number.is_spread else estimate(values)
            answers.append(Measured(number.quantity, number.at, value))
        return answers

    return measure


def times_by_size(scenario: str) -> Measure:
    """Transfer time and retransmissions per mode and size of file."""

    def measure(lab: Lab, numbers: Sequence[PublishedNumber]) -> list[Measured]:
        del numbers
        result = lab.result(scenario)
        return [
            shown(
                quantity,
                {"mode": variant.name.split(",")[0], "bytes": variant.parameters["bytes"]},
                result.values(variant.name, quantity),
            )
            for quantity in ("transfer_time_s", "retransmissions")
            for variant in result.variants
        ]

    return measure


def ack_rate(scenario: str, width: float = 0.1, last: float = 3.0) -> Measure:
    """ACKs the client sends per bin and mode."""

    def measure(lab: Lab, numbers: Sequence[PublishedNumber]) -> list[Measured]:
        del numbers
        result = lab.result(scenario)
        return [
            shown("acks", {"mode": mode, "from_s": round(index * width, 3)}, values)
            for mode in MODES
            for index, values in enumerate(extract.acks_per_bin(result, mode, width, last))
        ]

    return measure


def handover_throughput(result: Result, variant: str) -> tuple[PerSeed, PerSeed]:
    """Throughput before the radio goes down and after it is back, in 2^20 bit/s.

    Before: bytes at the client when the radio goes down over the time since the
    SYN. After: the rest over the time from the radio's return to the last byte.
    """
    leaves = seconds(parameter(result, variant, "leaves"))
    back = leaves + seconds(parameter(result, variant, "outage"))
    (there,) = extract.bytes_by(result, variant, [leaves])
    whole = dict(extract.sizes(result, variant))
    before: PerSeed = [None if b is None else b * 8 / leaves / MEBI for b in there]
    after: PerSeed = []
    for seed, got, end in zip(result.seeds, there, extract.transfer_times(result, variant), strict=True):
        if got is None or end is None or end <= back:
            after.append(None)
        else:
            after.append((whole[seed] - got) * 8 / (end - back) / MEBI)
    return before, after


def handover_measure(scenario: str, variant: Callable[[At], str]) -> Measure:
    """Throughput before and after the handover per mode."""

    def measure(lab: Lab, numbers: Sequence[PublishedNumber]) -> list[Measured]:
        result = lab.result(scenario)
        answers = []
        for number in numbers:
            before, after = handover_throughput(result, variant(number.at))
            answers.append(measured(number, before if number.quantity.startswith("before") else after))
        return answers

    return measure


def pair(result: Result, ours: str, theirs: str) -> Comparison:
    """Transfer times of two variants over the same seeds."""
    return compare(extract.transfer_times(result, ours), extract.transfer_times(result, theirs))


def mean(values: Iterable[float | None]) -> float:
    """The mean of what there is; NaN of nothing."""
    found = estimate(values).mean
    return float("nan") if found is None else found


def spell_difference(comparison: Comparison, unit: str = "s") -> str:
    """A paired difference with its interval, for evidence."""
    difference = comparison.difference
    if difference.mean is None:
        return "no pairs"
    text = f"{difference.mean:+.3f} {unit}"
    if difference.low is None or difference.high is None:
        return f"{text} (one pair)"
    return f"{text} (95 % CI {difference.low:+.3f} to {difference.high:+.3f}, {difference.n} pairs)"
