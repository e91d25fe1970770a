"""Results: the tables of a run, metrics per cell, summaries per variant."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol

import polars as pl

from lasthop.errors import LasthopError
from lasthop.failures import Failure
from lasthop.frames import SMALL_TABLES
from lasthop.metrics import METRICS, cell_metrics
from lasthop.placement import Placements, placements
from lasthop.scenario import Scenario, Variant
from lasthop.stats import Comparison, Estimate, compare, estimate
from lasthop.store import Store

Summary = dict[str, dict[str, Estimate]]
"""Variant, then metric."""


class Source(Protocol):
    """Where a result's tables come from."""

    def scan(self, table: str) -> pl.LazyFrame:
        """One table over all cells."""


class MemorySource:
    """Tables kept in memory."""

    def __init__(self, cells: Sequence[Mapping[str, pl.DataFrame]]) -> None:
        self._cells = cells

    def scan(self, table: str) -> pl.LazyFrame:
        """One table over all cells."""
        return pl.concat([cell[table] for cell in self._cells], how="diagonal").lazy()


class StoreSource:
    """Tables in a result directory."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def scan(self, table: str) -> pl.LazyFrame:
        """One table over all cells."""
        whole = self._store.root / f"{table}.parquet"
        if table in SMALL_TABLES and whole.exists():
            return pl.scan_parquet(whole)
        return self._store.cell_scan(table)


class Result:
    """What a run wrote down.

    Every table has the columns ``variant`` and ``seed`` in front; column names
    carry their units. Tables of a result directory are read when first used.

    >>> import lasthop
    >>> scenario = lasthop.Scenario.from_file("scenarios/examples/dumbbell.toml").set(duration="5 s")
    >>> result = lasthop.run(scenario.set(sender=["reno", "sack"]), seeds=2)
    >>> result.runs.height
    4
    >>> sorted(result.summary()) == ["sender=reno", "sender=sack"]
    True

    Attributes:
        scenario: Name of the scenario.
        engine: Which engine ran it.
        seeds: Seeds each variant ran with.
        variants: The variants, in order.
        path: The result directory; None for a result in memory.
        agents: Where the agents of each variant ran.
        failures: Programs that failed.
    """

    def __init__(
        self,
        *,
        scenario: str,
        title: str,
        engine: str,
        seeds: Sequence[int],
        variants: Sequence[Variant],
        source: Source,
        path: Path | None = None,
        agents: Placements | None = None,
        failures: Sequence[Failure] = (),
    ) -> None:
        self.scenario = scenario
        self.title = title
        self.engine = engine
        self.seeds = list(seeds)
        self.variants = list(variants)
        self.path = path
        self.agents = dict(agents or {})
        self.failures = list(failures)
        self._source = source

    @classmethod
    def open(cls, directory: str | Path) -> Result:
        """Opens a result directory.

        Raises:
            StoreError: When it holds no results.
        """
        return cls.from_store(Store.open(directory))

    @classmethod
    def from_store(cls, store: Store) -> Result:
        """The result in a store."""
        manifest = store.manifest
        return cls(
            scenario=manifest.scenario,
            title=manifest.title,
            engine=manifest.engine,
            seeds=manifest.seeds,
            variants=store.variants,
            source=StoreSource(store),
            path=store.root,
            agents=store.agents,
            failures=store.failures,
        )

    @classmethod
    def from_memory(
        cls,
        scenario: Scenario,
        engine: str,
        cells: Sequence[Mapping[str, pl.DataFrame]],
        failures: Sequence[Failure] = (),
    ) -> Result:
        """A result that is not on disk."""
        return cls(
            scenario=scenario.name,
            title=scenario.title,
            engine=engine,
            seeds=scenario.seeds,
            variants=scenario.variants,
            source=MemorySource(cells),
            agents=placements(scenario.plan, engine),
            failures=failures,
        )

    def scan(self, table: str) -> pl.LazyFrame:
        """A table as a lazy frame, for queries that need a part of a large one."""
        return self._source.scan(table)

    @cached_property
    def runs(self) -> pl.DataFrame:
        """One row per cell: engine, version, totals of the run."""
        return self.scan("runs").collect()

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow: bytes, times, counts."""
        return self.scan("flows").collect()

    @cached_property
    def stations(self) -> pl.DataFrame:
        """One row per transmitter on a Wi-Fi medium: airtime, collisions, retries."""
        return self.scan("stations").collect()

    @cached_property
    def events(self) -> pl.DataFrame:
        """What happened when: handovers, timeouts, agents' actions."""
        return self.scan("events").collect()

    @cached_property
    def samples(self) -> pl.DataFrame:
        """The senders' state over time: cwnd, ssthresh, rwnd, srtt, flight."""
        return self.scan("samples").collect()

    @cached_property
    def packets(self) -> pl.DataFrame:
        """Packets at both hosts and every drop, if the scenario records them."""
        return self.scan("packets").collect()

    @cached_property
    def mac(self) -> pl.DataFrame:
        """Attempts at the medium, if the scenario records them."""
        return self.scan("mac").collect()

    @cached_property
    def late(self) -> list[tuple[str, int]]:
        """Variant and seed of the cells that were late beyond the bound; no metric counts them."""
        if "valid" not in self.runs.columns:
            return []
        return self.runs.filter(pl.col("valid") == 0).select("variant", "seed").rows()

    @cached_property
    def parameters(self) -> pl.DataFrame:
        """One row per variant: its name and every parameter as spelt."""
        rows = [{"variant": variant.name, **variant.parameters} for variant in self.variants]
        return pl.DataFrame(rows, infer_schema_length=None)

    @cached_property
    def _metrics(self) -> pl.DataFrame:
        return cell_metrics(self.runs, self.flows, self.stations)

    def metrics(self) -> pl.DataFrame:
        """One row per cell with every metric; `lasthop.metrics.METRICS` says what each is."""
        return self._metrics

    def values(self, variant: str, metric: str) -> list[float | None]:
        """A metric of a variant, one value per seed in the order of the seeds.

        Raises:
            LasthopError: When there is no such variant or metric.
        """
        self._require(variant, metric)
        rows = self._metrics.filter(pl.col("variant") == variant).select("seed", metric).rows()
        by_seed: dict[int, float | None] = dict(rows)
        return [by_seed.get(seed) for seed in self.seeds]

    def summary(self, level: float = 0.95) -> Summary:
        """Mean and confidence interval of every metric of every variant."""
        names = [name for name in self._metrics.columns if name in METRICS]
        return {
            variant.name: {name: estimate(self.values(variant.name, name), level) for name in names}
            for variant in self.variants
        }

    def compare(self, ours: str, theirs: str, metric: str = "goodput_bps") -> Comparison:
        """Compares two variants over the same seeds, pair by pair."""
        return compare(self.values(ours, metric), self.values(theirs, metric))

    def to_dict(self) -> dict[str, object]:
        """The summary as plain data: ``{scenario, engine, seeds, agents, failures, variants}``."""
        variants = {
            variant: {metric: value.to_dict() for metric, value in metrics.items()}
            for variant, metrics in self.summary().items()
        }
        return {
            "scenario": self.scenario,
            "engine": self.engine,
            "seeds": self.seeds,
            "agents": {name: [row.to_dict() for row in rows] for name, rows in self.agents.items()},
            "failures": [failure.to_dict() for failure in self.failures],
            "variants": variants,
        }

    def to_json(self) -> str:
        """The summary as JSON text.

        Under ``variants``: ``{VARIANT: {METRIC: {mean, ci95: [low, high], n}}}``;
        under ``agents``: ``{VARIANT: [{agent, at, via}]}``.
        """
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def _require(self, variant: str, metric: str) -> None:
        known = [entry.name for entry in self.variants]
        if variant not in known:
            raise LasthopError(f"no variant {variant!r}; there are: {', '.join(known)}")
        if metric not in self._metrics.columns or metric not in METRICS:
            raise LasthopError(f"no metric {metric!r}; there are: {', '.join(METRICS)}")
