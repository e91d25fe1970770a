"""The five claims of Ciminieri 2013, each decided by runs over the same seeds."""

from __future__ import annotations

import math

from lasthop.reproduce import extract, testbed
from lasthop.reproduce.lab import Lab
from lasthop.reproduce.model import ClaimTest, Decision
from lasthop.reproduce.testbed import mean, pair, spell_difference
from lasthop.reproduce.verdict import spread_of
from lasthop.stats import compare

COUNTS = (0, 3, 6, 9, 12, 15)
RTTS = ("10 ms", "70 ms", "125 ms", "250 ms", "500 ms")


def best_count(lab: Lab) -> Decision:
    """7 to 14 divided ACKs are best: the best n lies there and none outside beats it."""
    result = lab.result("ciminieri/table-7.4.toml")
    times = {n: mean(extract.transfer_times(result, f"divacks={n}")) for n in COUNTS}
    best = min(times, key=lambda n: times[n])
    outside = [n for n in COUNTS if not 7 <= n <= 14]
    against = {n: pair(result, f"divacks={best}", f"divacks={n}") for n in outside if n != best}
    holds = 7 <= best <= 14 and all(comparison.verdict == "lower" for comparison in against.values())
    listed = ", ".join(f"n = {n}: {time:.2f} s" for n, time in times.items())
    pairs = "; ".join(f"against n = {n} {spell_difference(c)}" for n, c in against.items())
    return Decision(holds, f"Means: {listed}. Best is n = {best}: {pairs}.")


def collapse(lab: Lab) -> Decision:
    """Brute Force loses its gain on long transfers and short RTTs, Controlled keeps it."""
    by_size = lab.result("ciminieri/figure-7.4.toml")
    by_rtt = lab.result("ciminieri/table-7.5.toml")
    long, short = "4 MiB", "70 ms"
    brute = (
        pair(by_size, f"brute-force,bytes={long}", f"legacy,bytes={long}"),
        pair(by_rtt, f"brute-force,rtt={short}", f"legacy,rtt={short}"),
    )
    controlled = (
        pair(by_size, f"controlled,bytes={long}", f"legacy,bytes={long}"),
        pair(by_rtt, f"controlled,rtt={short}", f"legacy,rtt={short}"),
    )
    collapses = all(comparison.verdict == "higher" for comparison in brute)
    keeps = all(comparison.verdict != "higher" for comparison in controlled)
    evidence = (
        f"Transfer time less legacy's, {long} at 250 ms: Brute Force {spell_difference(brute[0])}, "
        f"Controlled {spell_difference(controlled[0])}. 990 KiB at {short}: Brute Force "
        f"{spell_difference(brute[1])}, Controlled {spell_difference(controlled[1])}. "
        f"Brute Force is slower than legacy up to an RTT of {_last_loss(lab, 'brute-force')}, "
        f"Controlled up to {_last_loss(lab, 'controlled')}."
    )
    return Decision(collapses and keeps, evidence)


def _last_loss(lab: Lab, mode: str) -> str:
    """The longest RTT up to which a mode is surely slower than legacy."""
    result = lab.result("ciminieri/table-7.5.toml")
    pairs = {rtt: pair(result, f"{mode},rtt={rtt}", f"legacy,rtt={rtt}") for rtt in RTTS}
    slower = [rtt for rtt, comparison in pairs.items() if comparison.verdict == "higher"]
    return slower[-1] if slower else "none of those tried"


def window_limits(lab: Lab) -> Decision:
    """The receiver's window, not cwnd, limits a transfer with divided ACKs."""
    result = lab.result("ciminieri/table-7.7.toml")
    parts, holds = [], True
    for variant in ("default", "4x", "8x"):
        ends = [0.25 * k for k in range(4, 10)]
        limited = [
            cwnd is not None and rwnd is not None and cwnd > rwnd
            for end in ends
            for cwnd, rwnd in zip(
                extract.cwnd_at_end(result, variant, end),
                extract.rwnd_at_end(result, variant, end),
                strict=True,
            )
        ]
        share = sum(limited) / len(limited)
        last = mean(extract.cwnd_at_end(result, variant, None))
        window = mean(extract.rwnd_at_end(result, variant, None))
        holds = holds and share == 1.0 and last > 1000
        parts.append(
            f"{variant} buffer: cwnd above rwnd at the end of {100 * share:.0f} % of round trips from the "
            f"third on, in the end {last:.0f} segments against {window:.0f}"
        )
    return Decision(holds, "; ".join(parts) + ".")


def controlled_is_steadiest(lab: Lab) -> Decision:
    """Controlled has the smallest mean and the smallest spread."""
    result = lab.result("ciminieri/table-7.13.toml")
    faster = {mode: pair(result, "controlled", mode) for mode in ("legacy", "brute-force")}
    spreads = {mode: spread_of(extract.transfer_times(result, mode)) for mode in testbed.MODES}
    known = {mode: math.nan if s.mean is None else s.mean for mode, s in spreads.items()}
    steadiest = known["controlled"] == min(known.values())
    holds = steadiest and all(comparison.verdict == "lower" for comparison in faster.values())
    pairs = "; ".join(f"against {mode} {spell_difference(c)}" for mode, c in faster.items())
    listed = ", ".join(f"{mode} {value:.3f} s" for mode, value in known.items())
    return Decision(
        holds,
        f"Mean: Controlled {pairs}. Standard deviation: {listed}; in the model it comes from backoff "
        "draws only.",
    )


def recovers_fastest(lab: Lab) -> Decision:
    """After a handover Controlled is about four times as fast as legacy, Brute Force slower."""
    result = lab.result("ciminieri/table-7.15.toml")
    after = {mode: testbed.handover_throughput(result, f"{mode} default")[1] for mode in testbed.MODES}
    controlled = compare(after["controlled"], after["legacy"])
    brute = compare(after["brute-force"], after["legacy"])
    ratio = controlled.ratio or math.nan
    holds = controlled.verdict == "higher" and brute.verdict == "lower" and 3.0 <= ratio <= 5.0
    listed = ", ".join(f"{mode} {mean(values):.2f}" for mode, values in after.items())
    return Decision(
        holds,
        f"Mbit/s after the handover: {listed}. Controlled is {ratio:.1f} times as fast as legacy, "
        f"{spell_difference(controlled, 'Mbit/s')}; Brute Force less legacy "
        f"{spell_difference(brute, 'Mbit/s')}. "
        "Neither the time nor the length of the handover is in the source; other choices are in the "
        "validation page.",
    )


CLAIMS = (
    ClaimTest("7 to 14 divided ACKs per ACK are best", ("ciminieri/table-7.4.toml",), best_count),
    ClaimTest(
        "Brute Force loses its gain on long transfers and short RTTs, Controlled does not",
        ("ciminieri/figure-7.4.toml", "ciminieri/table-7.5.toml"),
        collapse,
    ),
    ClaimTest(
        "The receiver's window, not cwnd, limits a transfer with divided ACKs",
        ("ciminieri/table-7.7.toml",),
        window_limits,
    ),
    ClaimTest(
        "Controlled has the smallest mean and the smallest spread",
        ("ciminieri/table-7.13.toml",),
        controlled_is_steadiest,
    ),
    ClaimTest(
        "After a handover Controlled is about four times as fast as legacy, and Brute Force slower",
        ("ciminieri/table-7.15.toml",),
        recovers_fastest,
    ),
)
