"""What the validation page says beside the tables, from runs of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from lasthop.reproduce import extract, testbed
from lasthop.reproduce.lab import Lab
from lasthop.reproduce.model import Section
from lasthop.reproduce.testbed import mean, pair, spell_difference
from lasthop.stats import compare, estimate

CALIBRATION = "ciminieri/table-7.1.toml"
CANDIDATES = "ciminieri/table-7.1-candidates.toml"
COUNTS = (0, 3, 6, 9, 12, 15)
PUBLISHED_MEANS = {0: 3.12, 3: 2.82, 6: 2.60, 9: 2.62, 12: 2.42, 15: 3.05}


def prose(name: str, **values: str) -> str:
    """A passage of the page from ``prose/``, with its values put in."""
    text = (Path(__file__).parent / "prose" / f"{name}.md").read_text(encoding="utf-8")
    return text.strip().format(**values)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table.

    >>> print(table(["n", "s"], [["0", "3.1"]]))
    | n | s |
    |---|---|
    | 0 | 3.1 |
    """
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(
        "|" + "|".join(cell if cell == "---" else f" {cell} " for cell in line) + "|" for line in lines
    )


def medium(lab: Lab) -> str:
    """Which 802.11g, and what hangs on it."""
    udp = lab.result(CALIBRATION)
    candidates = lab.result(CANDIDATES)
    names = list(dict.fromkeys(variant.name.split(",divacks=")[0] for variant in candidates.variants))
    rows = []
    for name in names:
        times = [mean(extract.transfer_times(candidates, f"{name},divacks={n}")) for n in COUNTS]
        errors = sorted(abs(t / PUBLISHED_MEANS[n] - 1) for n, t in zip(COUNTS, times, strict=True))
        rate = mean(udp.values(name, "goodput_bps")) / 1e6
        middle = (errors[2] + errors[3]) / 2
        fastest = mean(_fastest_growth(lab, f"{name},divacks=12"))
        rows.append(
            [name, f"{rate:.1f}", *(f"{t:.2f}" for t in times), f"{100 * middle:.0f} %", f"{fastest:.0f}"]
        )
    counts = [f"n = {n}" for n in COUNTS]
    headings = ["802.11g", "UDP Mbit/s", *counts, "median error of table 7.4", "ACKs/s, n = 12"]
    chosen = mean(udp.values("24 Mbit/s", "goodput_bps")) / 1e6
    return prose("medium", table=table(headings, rows), rate=f"{chosen:.1f}")


def _fastest_growth(lab: Lab, variant: str) -> extract.PerSeed:
    result = lab.result(CANDIDATES)
    at = [extract.cwnd_at_end(result, variant, end) for end in (1.0, 2.0)]
    return [None if a is None or b is None else b - a for a, b in zip(*at, strict=True)]


def ping_pong(lab: Lab) -> str:
    """Airtime of ACKs, collisions and retries against n and against the RTT."""
    result = lab.result("ciminieri/ping-pong.toml")
    rows = []
    for variant in result.variants:
        count, rtt = variant.parameters["divacks"], variant.parameters["rtt"]
        numbers = {
            name: mean(result.values(variant.name, name))
            for name in (
                "transfer_time_s",
                *(f"{kind}_airtime_share" for kind in ("data", "ack", "collision")),
            )
        }
        time, *shares = numbers.values()
        counts = [mean(result.values(variant.name, f"mac_{kind}")) for kind in ("collisions", "retries")]
        cells = [f"{100 * share:.1f}" for share in shares] + [f"{number:.0f}" for number in counts]
        rows.append([count, rtt, f"{time:.2f}", *cells])
    headings = [
        "n",
        "RTT",
        "transfer s",
        "data airtime %",
        "ACK airtime %",
        "collisions %",
        "collisions",
        "retries",
    ]
    return prose("ping-pong", table=table(headings, rows))


def cost(lab: Lab) -> str:
    """What a bystander and the uplink pay."""
    result = lab.result("ciminieri/cost.toml")
    rows, bystander = [], {}
    for mode in testbed.MODES:
        flows = extract.of_variant(result, "flows", mode).collect()
        own = flows.filter(pl.col("workload") == "download")
        stations = extract.of_variant(result, "stations", mode).filter(pl.col("station") == 1).collect()
        bystander[mode] = _goodput(flows.filter(pl.col("workload") == "bystander"), result.seeds)
        rows.append(
            [
                mode,
                f"{mean(own['transfer_time_s'].to_list()):.2f}",
                f"{mean(own['divided_acks'].to_list()):.0f}",
                f"{mean(stations['ack_airtime_s'].to_list()) * 1000:.0f}",
                f"{mean(stations['collisions'].to_list()):.0f}",
                f"{mean(bystander[mode]):.2f}",
            ]
        )
    lost = {mode: compare(bystander[mode], bystander["legacy"]) for mode in ("brute-force", "controlled")}
    headings = [
        "download",
        "transfer s",
        "extra ACKs",
        "uplink ACKs, ms of air",
        "collisions",
        "bystander Mbit/s",
    ]
    listed = "; ".join(f"{mode} {spell_difference(c, 'Mbit/s')}" for mode, c in lost.items())
    return prose("cost", table=table(headings, rows), lost=listed)


def _goodput(flows: pl.DataFrame, seeds: Sequence[int]) -> list[float | None]:
    by_seed = dict(flows.select("seed", "goodput_bps").iter_rows())
    return [None if seed not in by_seed else by_seed[seed] / 1e6 for seed in seeds]


def counting(lab: Lab) -> str:
    """Table 7.13 with senders that count segments and bytes."""
    result = lab.result("ciminieri/ack-counting.toml")
    rows = []
    for rule in ("per-ack", "per-segment", "per-byte"):
        row = [rule]
        for mode in testbed.MODES:
            found = estimate(extract.transfer_times(result, f"{mode},counting={rule}"))
            row.append("–" if found.mean is None else f"{found.mean:.2f}")
        gain = pair(result, f"controlled,counting={rule}", f"legacy,counting={rule}")
        rows.append([*row, spell_difference(gain)])
    return (
        table(["sender counts", "legacy s", "Brute Force s", "Controlled s", "Controlled less legacy"], rows)
        + f"\n\n{counting_sentence(lab)}"
    )


def counting_sentence(lab: Lab) -> str:
    """One sentence: divided ACKs need a sender that counts ACKs."""
    result = lab.result("ciminieri/ack-counting.toml")
    gains = {
        rule: pair(result, f"controlled,counting={rule}", f"legacy,counting={rule}")
        for rule in ("per-ack", "per-segment", "per-byte")
    }
    useless = all(gains[rule].verdict != "lower" for rule in ("per-segment", "per-byte"))
    spelt = {rule: f"{gain.difference.mean or 0.0:+.2f} s" for rule, gain in gains.items()}
    return (
        "Divided ACKs need a sender that counts ACKs: senders that count segments (Linux) or bytes "
        f"(RFC 3465) {'show no gain' if useless else 'still gain'}; Controlled less legacy is "
        f"{spelt['per-segment']} and {spelt['per-byte']} there, against {spelt['per-ack']}."
    )


def losses(lab: Lab) -> str:
    """Table 7.5: what it takes to get such numbers."""
    result = lab.result("ciminieri/table-7.5-causes.toml")
    published = {
        ("legacy", "125 ms"): 1.89,
        ("legacy", "250 ms"): 3.28,
        ("legacy", "500 ms"): 25.08,
        ("brute-force", "125 ms"): 4.16,
        ("brute-force", "250 ms"): 2.53,
        ("brute-force", "500 ms"): 17.8,
    }
    rows = []
    for (mode, rtt), value in published.items():
        row = [mode, rtt, f"{value:.2f}"]
        for loss in ("0", "0.005", "0.02", "0.05"):
            found = extract.transfer_times(result, f"{mode},rtt={rtt},loss={loss}")
            times = [time for time in found if time is not None]
            row.append(f"{mean(times):.1f} ({min(times):.1f} to {max(times):.1f})")
        rows.append(row)
    headings = ["", "RTT", "published", "no loss", "0.5 %", "2 %", "5 %"]
    return prose("losses", table=table(headings, rows))


def handover(lab: Lab) -> str:
    """Table 7.15 against what the source leaves open."""
    result = lab.result("ciminieri/table-7.15-sensitivity.toml")
    rows, ratios, slower = [], [], []
    for leaves in ("1 s", "1560 ms", "2 s"):
        for outage in ("200 ms", "1 s", "5 s"):
            names = [f"{mode},leaves={leaves},outage={outage}" for mode in testbed.MODES]
            pairs = [testbed.handover_throughput(result, name) for name in names]
            before, after = ([mean(values) for values in side] for side in zip(*pairs, strict=True))
            rows.append([leaves, outage, *(f"{value:.2f}" for value in (*before, *after))])
            legacy, brute, controlled = after
            ratios.append(controlled / legacy)
            if brute < legacy:
                slower.append(f"{leaves} and {outage}")
    main = lab.result("ciminieri/table-7.15.toml")
    large = {mode: mean(testbed.handover_throughput(main, f"{mode} 4x")[1]) for mode in testbed.MODES}
    sides = [f"{side}, {mode}" for side in ("before", "after") for mode in testbed.MODES]
    return prose(
        "handover",
        table=table(["leaves", "away", *sides], rows),
        large=", ".join(f"{mode} {value:.2f}" for mode, value in large.items()),
        lowest=f"{min(ratios):.1f}",
        highest=f"{max(ratios):.1f}",
        slower=", ".join(slower) or "none of them",
    )


SECTIONS = (
    Section("The medium: table 7.1 and what was chosen by it", (CALIBRATION, CANDIDATES), medium),
    Section("The ping-pong effect", ("ciminieri/ping-pong.toml",), ping_pong),
    Section("Cost next to gain", ("ciminieri/cost.toml",), cost),
    Section("ACK counting", ("ciminieri/ack-counting.toml",), counting),
    Section("Table 7.5: losses explain it", ("ciminieri/table-7.5-causes.toml",), losses),
    Section(
        "Table 7.15: what the source leaves open",
        ("ciminieri/table-7.15-sensitivity.toml", "ciminieri/table-7.15.toml"),
        handover,
    ),
)
