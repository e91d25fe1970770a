"""Runs of a toy sender, in the columns every engine writes.

The toy is no TCP: a window that grows per ACK, one bottleneck, one radio break.
It only has to fill every column with numbers that hang together.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from lasthop.report import (
    CellKey,
    Claim,
    Handover,
    PublishedRow,
    ReportInput,
    Variant,
    path_from_scenario,
    traces_from_frames,
)

MSS = 1448
SCENARIO = """\
name = "toy"
title = "One download over the last hop"
duration = "30 s"

[parameters]
rtt     = { default = "250 ms", help = "round trip without queues" }
divacks = { default = 0, help = "extra ACKs per data segment" }

[hosts.server]
personality = "linux-2.6"

[hosts.client]
personality = "linux-2.6"

[[path]]
name = "wire"
type = "wired"
rate = "100 Mbit/s"
delay = "125 ms"
queue = "1000 packets"
errors = [{ type = "per-packet", probability = "0.001" }]

[[path]]
name = "wlan"
type = "wifi"
standard = "g"
data_rate = "54 Mbit/s"
queue = "100 packets"

[[agents]]
at = "client"
type = "divacks"
count = "$divacks"
"""


@dataclass
class Tables:
    """Rows of one run, table by table."""

    samples: list[dict[str, Any]] = field(default_factory=list)
    packets: list[dict[str, Any]] = field(default_factory=list)
    mac: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    end_s: float = 0.0
    retransmissions: int = 0
    acks: int = 0


def run(divide: int, seed: int, size: int = 990 * 1024, engine: str = "sim") -> Tables:
    """Moves ``size`` bytes; the client sends ``divide + 1`` ACKs per segment."""
    chance = random.Random(seed if engine == "sim" else seed + 1000)
    out, queue = Tables(), [(0.25, 0, "ack", 0)]
    delay = 0.125 * (1.0 if engine == "sim" else 1.02)
    state = {"cwnd": 3.0 * MSS, "ssthresh": float("inf"), "next": 0, "una": 0, "free": 0.0}
    lost: dict[int, bool] = {}
    arrived: set[int] = set()
    order = 1
    while queue and state["una"] < size:
        now, _, kind, value = heapq.heappop(queue)
        if kind == "data":
            _radio(out, now, 0, 1550, chance)
            arrived.add(value)
            edge = _in_order(arrived)
            for part in range(divide + 1):
                ack = edge - MSS + (part + 1) * MSS // (divide + 1) if edge == value + MSS else edge
                _radio(out, now + 0.0004 * (part + 1), 1, 90, chance)
                heapq.heappush(queue, (now + delay + 0.0004 * (part + 1), order, "ack", max(ack, 0)))
                order += 1
                out.acks += 1
            continue
        _receive(out, state, now, value)
        if kind == "timeout" or (value in lost and lost.pop(value)):
            state["ssthresh"] = max(state["cwnd"] / 2, 2 * MSS)
            state["cwnd"] = state["ssthresh"]
            out.events.append({"t_s": now, "flow": 0, "kind": "recovery", "value": state["cwnd"]})
            order = _send(out, state, queue, order, now, value, delay, again=True)
            out.retransmissions += 1
        while state["next"] < size and state["next"] - state["una"] + MSS <= state["cwnd"]:
            position = int(state["next"])
            state["next"] += MSS
            if chance.random() < 0.002 and position > 60 * MSS and not lost:
                lost[position] = True
                _packet(out, now, "server", "downlink", position, MSS, "sent")
                _packet(out, now + 0.02, "wire", "downlink", position, MSS, "error")
            else:
                order = _send(out, state, queue, order, now, position, delay, again=False)
        out.end_s = now
    return out


def _in_order(arrived: set[int]) -> int:
    edge = 0
    while edge in arrived:
        edge += MSS
    return edge


def _send(
    out: Tables, state: dict[str, float], queue: list[Any], order: int,
    now: float, position: int, delay: float, *, again: bool,
) -> int:  # fmt: skip
    _packet(out, now, "server", "downlink", position, MSS, "sent", again=again)
    state["free"] = max(state["free"], now) + MSS * 8 / 16.2e6
    heapq.heappush(queue, (state["free"] + delay, order, "data", position))
    return order + 1


def _receive(out: Tables, state: dict[str, float], now: float, ack: int) -> None:
    _packet(out, now, "server", "uplink", 0, 0, "received", ack=ack)
    advance = ack - state["una"]
    if advance > 0:
        state["una"] = ack
        room = state["cwnd"] < state["ssthresh"]
        state["cwnd"] += MSS if room else MSS * MSS / state["cwnd"]
    out.samples.append(
        {
            "flow": 0,
            "t_s": now,
            "cwnd_bytes": state["cwnd"],
            "ssthresh_bytes": state["ssthresh"],
            "rwnd_bytes": 262_144,
            "srtt_s": 0.26,
            "rto_s": 0.5,
            "in_flight_bytes": int(state["next"] - state["una"]),
            "snd_una_bytes": int(state["una"]),
            "snd_nxt_bytes": int(state["next"]),
        }
    )


def _packet(
    out: Tables, t: float, place: str, direction: str, seq: int, length: int, verdict: str,
    *, ack: int = 0, again: bool = False,
) -> None:  # fmt: skip
    out.packets.append(
        {
            "flow": 0,
            "t_s": t,
            "place": place,
            "direction": direction,
            "seq_bytes": seq,
            "ack_bytes": ack,
            "length_bytes": length,
            "wire_bytes": length + 52,
            "window_bytes": 262_144,
            "flags": ".",
            "verdict": verdict,
            "retransmission": again,
        }
    )


def _radio(out: Tables, t: float, station: int, size: int, chance: random.Random) -> None:
    collided = chance.random() < 0.03
    for who in (0, 1) if collided else (station,):
        out.mac.append(
            {
                "t_s": t,
                "station": who,
                "attempt": 1,
                "outcome": "collision" if collided else "success",
                "airtime_s": 0.00014 + size * 8 / 54e6,
                "delay_s": 0.0005,
                "frame_bytes": size,
            }
        )


VARIANTS = {"legacy": 0, "brute-force 12": 12, "controlled 6": 6}


def report_input(
    *, seeds: int = 12, engines: tuple[str, ...] = ("sim",), title: str = "One download over the last hop",
    traced_seeds: int = 3, size: int = 990 * 1024,
) -> ReportInput:  # fmt: skip
    """A whole report's worth of toy runs."""
    frames: dict[str, list[pl.DataFrame]] = {"samples": [], "packets": [], "mac": [], "events": []}
    cells, traced = [], []
    for name, divide in VARIANTS.items():
        for engine in engines:
            for seed in range(1, seeds + 1):
                tables = run(divide, seed, size=size, engine=engine)
                cells.append(_metrics(name, seed, engine, tables, size))
                if seed <= traced_seeds:
                    traced.append(CellKey(name, engine, seed))
                    _keep(frames, tables, name, seed, engine)
    joined = {k: pl.concat(v) for k, v in frames.items() if v}
    return ReportInput(
        title=title,
        metrics=pl.DataFrame(cells),
        variants=[Variant(n, {"divacks": str(d), "rtt": "250 ms"}) for n, d in VARIANTS.items()],
        scenario_text=SCENARIO,
        path=path_from_scenario(SCENARIO, {"divacks": "12"}),
        load_trace=traces_from_frames(**joined),
        traced=traced,
        handovers=[Handover(1.0, 1.2)],
        versions={"lasthop": "0.1.0", "kernel": "6.8"},
        published=published(),
        claims=[
            Claim("ciminieri", "Brute Force shortens transfers at every RTT", True, "4 of 4 RTTs"),
            Claim("ciminieri", "Controlled beats Brute Force above 100 ms", False, "1.02 against 0.99 s"),
            Claim("ciminieri", "n beyond 14 adds nothing", None),
        ],
    )  # fmt: skip


def _metrics(name: str, seed: int, engine: str, tables: Tables, size: int) -> dict[str, Any]:
    return {
        "variant": name,
        "seed": seed,
        "engine": engine,
        "transfer_time_s": tables.end_s,
        "goodput_bps": size * 8 / tables.end_s,
        "retransmissions": tables.retransmissions,
        "timeouts": 0,
        "acks_sent": tables.acks,
    }


def _keep(frames: dict[str, list[pl.DataFrame]], tables: Tables, name: str, seed: int, engine: str) -> None:
    for table, parts in frames.items():
        rows = getattr(tables, table)
        if rows:
            frame = pl.DataFrame(rows, infer_schema_length=None).with_columns(
                variant=pl.lit(name), seed=pl.lit(seed), engine=pl.lit(engine)
            )
            parts.append(frame)


def published() -> list[PublishedRow]:
    """Rows in the shape ``reproduce`` gives, agreeing and not."""
    rows = []
    for index, (mode, divacks, theirs, ours) in enumerate(
        [
            ("legacy", 0, 3.12, 3.05),
            ("brute-force", 12, 2.49, 2.31),
            ("controlled", 12, 2.35, 2.80),
            ("controlled", 6, 2.50, None),
        ]
    ):
        verdict = ("agrees", "close", "differs", "")[index]
        rows.append(
            PublishedRow(
                "ciminieri",
                "table-7.13",
                "mean_s",
                {"divacks": divacks, "mode": mode},
                theirs,
                ours,
                None if ours is None else ours * 0.97,
                None if ours is None else ours * 1.03,
                30 if ours else 0,
                "sim",
                verdict,
            )
        )
    return rows
