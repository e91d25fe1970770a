"""Arcia-Moret, Montavont, Castignani, "Accelerating short transfers in 802.11 networks"."""

from __future__ import annotations

from collections.abc import Sequence

from lasthop.reproduce import extract, testbed
from lasthop.reproduce.lab import Lab
from lasthop.reproduce.model import (
    ClaimTest,
    Decision,
    Item,
    Layout,
    Measured,
    PublishedNumber,
    Source,
)
from lasthop.reproduce.testbed import mean, pair, shown, spell_difference
from lasthop.stats import compare

FIGURE_2 = "arcia-moret/figure-2.toml"
FIGURE_3 = "arcia-moret/figure-3.toml"
TABLE_1 = "arcia-moret/table-1.toml"


def _progress(lab: Lab, numbers: Sequence[PublishedNumber]) -> list[Measured]:
    """Kilobytes at the client every quarter of a second, per mode."""
    del numbers
    result = lab.result(FIGURE_2)
    times = [0.25 * k for k in range(2, 13)]
    return [
        shown("received_bytes", {"mode": mode, "by_s": time}, values)
        for mode in testbed.MODES
        for time, values in zip(times, extract.bytes_by(result, mode, times), strict=True)
    ]


def _faster(lab: Lab) -> Decision:
    result = lab.result(FIGURE_2)
    pairs = {mode: pair(result, "controlled", mode) for mode in ("legacy", "brute-force")}
    holds = all(comparison.verdict == "lower" for comparison in pairs.values())
    listed = "; ".join(f"against {mode} {spell_difference(c)}" for mode, c in pairs.items())
    return Decision(holds, f"Transfer time of Controlled {listed}.")


def _frees_the_uplink(lab: Lab) -> Decision:
    result = lab.result(FIGURE_3)
    acks = {
        mode: [mean(values) for values in extract.acks_per_bin(result, mode, 0.1, 3.0)]
        for mode in testbed.MODES
    }
    above = [k for k, n in enumerate(acks["controlled"]) if n > max(acks["legacy"])]
    until = f"until {(above[-1] + 1) * 0.1:.1f} s only" if above else "never"
    total = {mode: sum(values) for mode, values in acks.items()}
    times = pair(result, "controlled", "legacy")
    holds = total["controlled"] < total["brute-force"] / 2 and times.verdict == "lower"
    return Decision(
        holds,
        f"ACKs on the uplink: legacy {total['legacy']:.0f}, Controlled {total['controlled']:.0f}, "
        f"Brute Force {total['brute-force']:.0f}. Controlled exceeds legacy's highest rate {until}, "
        f"and ends before legacy: {spell_difference(times)}.",
    )


def _recovers(lab: Lab) -> Decision:
    result = lab.result(TABLE_1)
    after = {mode: testbed.handover_throughput(result, mode)[1] for mode in testbed.MODES}
    against = compare(after["controlled"], after["legacy"])
    ratio = against.ratio or float("nan")
    return Decision(
        against.verdict == "higher" and ratio >= 3.0,
        f"Controlled is {ratio:.1f} times as fast as legacy after the handover, "
        f"{spell_difference(against, 'Mbit/s')}.",
    )


SOURCE = Source(
    name="arcia-moret",
    title="A. Arcia-Moret and others, Accelerating short transfers in 802.11 networks, 2013",
    items=(
        Item("figure-2", "Bytes received over time", (FIGURE_2,), _progress),
        Item("figure-3", "ACKs on the uplink over time", (FIGURE_3,), testbed.ack_rate(FIGURE_3)),
        Item(
            "table-1",
            "Throughput before and after a handover",
            (TABLE_1,),
            testbed.handover_measure(TABLE_1, lambda at: str(at["mode"])),
            Layout(keys=("mode", "divacks")),
            counts=("before_handover_mbps",),
            main=TABLE_1,
            cause="The same numbers as Ciminieri's table 7.15; see there.",
        ),
    ),
    claims=(
        ClaimTest("Controlled improves on legacy TCP and on Brute Force", (FIGURE_2,), _faster),
        ClaimTest(
            "Controlled divides at the start only, leaves the uplink free after that, and ends first",
            (FIGURE_3,),
            _frees_the_uplink,
        ),
        ClaimTest("After a handover Controlled is up to four times as fast as legacy", (TABLE_1,), _recovers),
    ),
)
