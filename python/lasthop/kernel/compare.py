"""Simulator and Linux stack over the same scenarios, number beside number."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import polars as pl

from lasthop.engine import run
from lasthop.result import Result
from lasthop.scenario import Scenario
from lasthop.timing import Timing

SHOWN_ROUNDS = 10
"""Round trips whose congestion windows are compared."""

_RANDOM_LOSS = ("per-packet", "per-bit", "gilbert-elliott")


@dataclass(frozen=True)
class Row:
    """One variant by both engines; every number is the median over the seeds.

    Attributes:
        scenario: The scenario's name.
        variant: The variant's name.
        random_loss: Whether packets are lost at random for good.
        times_s: Transfer time, simulated and in the kernel.
        retransmissions: The same of retransmitted segments.
        rtt_s: The shortest smoothed round trip of the simulated sender, which counts the rounds.
        windows: Congestion windows in segments at the end of each round trip, simulated and in the kernel.
        invalid: Kernel runs that were late beyond the bound; they are left out.
    """

    scenario: str
    variant: str
    random_loss: bool
    times_s: tuple[float | None, float | None]
    retransmissions: tuple[float | None, float | None]
    rtt_s: float | None
    windows: tuple[list[float | None], list[float | None]]
    invalid: int

    @property
    def difference(self) -> float | None:
        """How much longer the kernel takes, as a part of the simulated time."""
        simulated, real = self.times_s
        if simulated is None or real is None or simulated == 0:
            return None
        return real / simulated - 1

    @property
    def window_difference(self) -> float | None:
        """Median distance of the congestion windows over the rounds, as a part of the simulated one."""
        pairs = itertools.takewhile(
            lambda pair: pair[0] is not None and pair[1] is not None, zip(*self.windows, strict=False)
        )
        parts = [abs(real - simulated) / simulated for simulated, real in pairs if simulated and real]
        return statistics.median(parts) if parts else None

    def to_dict(self) -> dict[str, object]:
        """Plain data, with the differences."""
        return {
            **asdict(self),
            "difference": self.difference,
            "window_difference": self.window_difference,
        }


def compare(
    scenario: Scenario, engine: str = "kernel", threads: int | None = None, timing: Timing | None = None
) -> Iterator[Row]:
    """Runs every variant by the simulator and by ``engine``."""
    simulated = run(scenario, threads=threads)
    real = run(scenario, engine=engine, timing=timing)
    random_loss = any(kind in scenario.text for kind in _RANDOM_LOSS)
    for variant in scenario.variants:
        yield _row(variant.name, random_loss, simulated, real)


def _row(variant: str, random_loss: bool, simulated: Result, real: Result) -> Row:
    both = (simulated, real)
    invalid = _invalid(real, variant)
    rtt = _rtt(simulated, variant)
    return Row(
        scenario=simulated.scenario,
        variant=variant,
        random_loss=random_loss,
        times_s=_pair([_median(result, variant, "transfer_time_s", invalid) for result in both]),
        retransmissions=_pair([_median(result, variant, "retransmissions", invalid) for result in both]),
        rtt_s=rtt,
        windows=(_windows(simulated, variant, rtt, invalid), _windows(real, variant, rtt, invalid)),
        invalid=len(invalid),
    )


def _pair(values: list[float | None]) -> tuple[float | None, float | None]:
    return values[0], values[1]


def _invalid(result: Result, variant: str) -> list[int]:
    """Seeds whose run was too late to count."""
    if "valid" not in result.runs.columns:
        return []
    late = result.runs.filter((pl.col("variant") == variant) & (pl.col("valid") == 0))
    return late["seed"].to_list()


def _median(result: Result, variant: str, metric: str, without: Sequence[int]) -> float | None:
    values = zip(result.seeds, result.values(variant, metric), strict=True)
    counted = [value for seed, value in values if value is not None and seed not in without]
    return statistics.median(counted) if counted else None


def _rtt(result: Result, variant: str) -> float | None:
    shortest = result.samples.filter(pl.col("variant") == variant)["srtt_s"].min()
    return float(shortest) if isinstance(shortest, float) else None


def _windows(result: Result, variant: str, rtt: float | None, without: Sequence[int]) -> list[float | None]:
    """The congestion window at the end of each round trip of data.

    Two round trips pass before the first data is acknowledged: the handshake,
    and the request with its first answer. Times are taken in the middle between
    two rounds, so that what the engines' timing differs by does not matter.
    """
    if rtt is None:
        return []
    chosen = (pl.col("variant") == variant) & (pl.col("flow") == 0) & ~pl.col("seed").is_in(list(without))
    starts = dict(result.flows.filter(chosen).select("seed", "start_s").rows())
    rounds: list[list[float]] = [[] for _ in range(SHOWN_ROUNDS)]
    for (seed,), samples in result.samples.filter(chosen).group_by("seed", maintain_order=True):
        times = samples["t_s"]
        for number, values in enumerate(rounds, start=1):
            until = starts[seed] + (number + 1.5) * rtt
            before = samples.filter(times <= until)["cwnd_bytes"]
            if before.len() > 0 and (times > until).any():
                values.append(float(before[-1]) / _SEGMENT_BYTES)
    return [statistics.median(values) if values else None for values in rounds]


_SEGMENT_BYTES = 1448
"""Payload of a full segment of either engine with timestamps on Ethernet."""
