"""The same seed gives the same bytes, and variants of one seed meet the same losses."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import lasthop
from support import EXAMPLES

EVERY_EXAMPLE = sorted(EXAMPLES.glob("*.toml"))


def parquet_bytes(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*.parquet"))}


def shortened(file: Path) -> lasthop.Scenario:
    """An example, cut to five seconds where it has a duration to set."""
    scenario = lasthop.Scenario.from_file(file)
    has_duration = "duration" in scenario.variants[0].parameters
    return scenario.set(duration="5 s") if has_duration else scenario


@pytest.mark.parametrize("file", EVERY_EXAMPLE, ids=lambda file: file.stem)
def test_two_runs_of_an_example_write_the_same_bytes(file: Path, tmp_path: Path) -> None:
    scenario = shortened(file).with_seeds(2)
    lasthop.run(scenario, out=tmp_path / "one", threads=1)
    lasthop.run(scenario, out=tmp_path / "two", threads=2)
    first, second = parquet_bytes(tmp_path / "one"), parquet_bytes(tmp_path / "two")
    assert first
    assert first == second


def test_seeds_differ(dumbbell: Path) -> None:
    scenario = lasthop.Scenario.from_file(dumbbell).set(duration="20 s", loss=0.01)
    values = lasthop.run(scenario, seeds=5).values("base", "retransmissions")
    assert len(set(values)) > 1


def test_every_sender_meets_the_same_losses(dumbbell: Path) -> None:
    """The n-th packet over the bottleneck is lost in all variants or in none."""
    senders = ["tahoe", "reno", "newreno", "sack", "cubic", "vegas", "westwood", "veno"]
    scenario = lasthop.Scenario.from_file(dumbbell).set(
        duration="20 s", loss=0.02, window=64, packets=True, sender=senders
    )
    result = lasthop.run(scenario, seeds=3)
    for seed in result.seeds:
        lost = {sender: losses(result, f"sender={sender}", seed) for sender in senders}
        common = min(len(pattern) for pattern in lost.values())
        patterns = {tuple(pattern[:common]) for pattern in lost.values()}
        assert common > 100
        assert len(patterns) == 1
        assert any(patterns.pop())


def losses(result: lasthop.Result, variant: str, seed: int) -> list[bool]:
    """Whether each packet the server sent was lost; the path keeps their order.

    A window of 64 segments fits the queue, so nothing is dropped there, no packet
    takes longer than 0.11 s, and a segment sent again follows a round trip later.
    """
    rows = result.packets.filter(
        (pl.col("variant") == variant) & (pl.col("seed") == seed) & (pl.col("direction") == "downlink")
    )
    columns = ["t_s", "seq_bytes", "length_bytes", "flags"]
    sent = rows.filter(pl.col("place") == "server").select(columns).rows()
    received = rows.filter(pl.col("place") == "client").select(columns).rows()
    pattern: list[bool] = []
    arrivals = 0
    for packet in sent:
        if arrivals == len(received):
            break
        arrival = received[arrivals]
        arrived = packet[1:] == arrival[1:] and arrival[0] - packet[0] < 0.12
        arrivals += arrived
        pattern.append(not arrived)
    return pattern
