"""Running scenarios: cells on threads, results in memory or in a directory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from lasthop import _core
from lasthop.errors import EngineError
from lasthop.failures import Failure, failures_of
from lasthop.frames import from_cell
from lasthop.result import Result
from lasthop.scenario import Scenario
from lasthop.store import Store
from lasthop.timing import Timing

CellId = tuple[int, int]
"""Index of the variant, and seed."""

Frames = dict[str, pl.DataFrame]


@dataclass(frozen=True)
class Options:
    """How cells are run.

    Attributes:
        threads: Cells at once.
        captures: Where each cell writes captures, in a directory of its own.
        timing: How late a run in real time may be.
        outputs: Where what commands print is kept.
    """

    threads: int
    captures: Path | None = None
    timing: Timing = field(default_factory=Timing)
    outputs: Path | None = None


Runner = Callable[[Scenario, Sequence[CellId], Options], Iterable[_core.Cell]]
"""Runs cells of a scenario and yields them as they finish."""


@dataclass(frozen=True)
class Engine:
    """One way to run cells.

    Attributes:
        run: Runs them.
        refusals: Why it cannot play each variant of a plan; None where it can.
    """

    run: Runner
    refusals: Callable[[_core.Plan], list[str | None]]


Progress = Callable[[int, int], None]
"""Called with the number of finished cells and of all cells."""


def _simulate(scenario: Scenario, cells: Sequence[CellId], options: Options) -> Iterable[_core.Cell]:
    try:
        yield from _core.run(scenario.plan, cells, options.threads, captures=options.captures)
    except RuntimeError as error:
        raise EngineError(str(error)) from None


def _kernel_engine(*, ebpf: bool = False, curl: bool = False) -> Engine:
    def play(scenario: Scenario, cells: Sequence[CellId], options: Options) -> Iterable[_core.Cell]:
        from lasthop.kernel import run_cells

        return run_cells(
            scenario.plan,
            cells,
            captures=options.captures,
            ebpf=ebpf,
            curl=curl,
            timing=options.timing,
            outputs=options.outputs,
        )

    return Engine(play, _core.kernel_refusals)


ENGINES: dict[str, Engine] = {
    "sim": Engine(_simulate, _core.simulator_refusals),
    "kernel": _kernel_engine(),
    "kernel-ebpf": _kernel_engine(ebpf=True),
    "kernel-curl": _kernel_engine(ebpf=True, curl=True),
}
"""Every engine by name."""


def find_engine(name: str) -> Engine:
    """The engine called ``name``.

    Raises:
        EngineError: When there is none.
    """
    if name not in ENGINES:
        raise EngineError(f"engine {name}: unknown; there are: {', '.join(ENGINES)}")
    return ENGINES[name]


def all_cells(scenario: Scenario) -> list[CellId]:
    """Every cell, seed by seed, so that an interrupted run has whole rounds of variants."""
    variants = range(len(scenario.variants))
    return [(variant, seed) for seed in scenario.seeds for variant in variants]


def run(
    scenario: Scenario,
    *,
    seeds: int | Sequence[int] | None = None,
    threads: int | None = None,
    out: str | Path | None = None,
    engine: str = "sim",
    captures: bool = False,
    timing: Timing | None = None,
    progress: Progress | None = None,
) -> Result:
    """Runs every variant of a scenario with every seed.

    With ``out`` the tables go to a directory as Parquet and are read back when
    used; running again into the same directory runs only the missing cells.

    >>> import lasthop
    >>> scenario = lasthop.Scenario.from_file("scenarios/examples/dumbbell.toml")
    >>> result = lasthop.run(scenario.set(duration="2 s"), seeds=2)
    >>> result.summary()["base"]["goodput_bps"].n
    2

    Args:
        scenario: What to run.
        seeds: A count (1 to n) or a list; None takes the scenario's own.
        threads: Cells at once; None takes one per CPU.
        out: Directory for the results; None keeps them in memory.
        engine: ``sim``, ``kernel``, ``kernel-ebpf`` (divacks in the kernel too), or
            ``kernel-curl`` (also curl and an HTTP server as the programs).
        captures: Also write pcapng captures of every cell; needs ``out``.
        timing: How late a run of a kernel engine may be, and how often it is tried.
        progress: Called after every cell with the finished and the total number.

    Raises:
        ScenarioError: When the scenario is not valid.
        StoreError: When ``out`` holds something else or cannot be written.
        EngineError: When the engine cannot play the scenario, or not here.
    """
    if seeds is not None:
        scenario = scenario.with_seeds(seeds)
    runner = find_engine(engine)
    _refuse(scenario, runner)
    options = Options(threads or default_threads(), timing=timing or Timing())
    if out is None:
        return _run_in_memory(scenario, engine, runner.run, options, progress)
    return _run_into_store(scenario, engine, runner.run, options, progress, Path(out), captures=captures)


def _refuse(scenario: Scenario, engine: Engine) -> None:
    """Says what the engine cannot play before anything is written."""
    for refusal in engine.refusals(scenario.plan):
        if refusal is not None:
            raise EngineError(refusal)


def default_threads() -> int:
    """CPUs this process may use."""
    return len(os.sched_getaffinity(0))


def _frames(scenario: Scenario, cell: _core.Cell, engine: str) -> tuple[str, Frames]:
    variant = scenario.variants[cell.variant].name
    return variant, from_cell(cell, variant, engine, _core.version)


def _run_in_memory(
    scenario: Scenario, engine: str, runner: Runner, options: Options, progress: Progress | None
) -> Result:
    cells = all_cells(scenario)
    done: dict[CellId, Frames] = {}
    failures: dict[CellId, list[Failure]] = {}
    for cell in runner(scenario, cells, options):
        variant, frames = _frames(scenario, cell, engine)
        done[cell.variant, cell.seed] = frames
        failures[cell.variant, cell.seed] = failures_of(cell, variant, frames["flows"])
        if progress is not None:
            progress(len(done), len(cells))
    in_order = [(v, s) for v in range(len(scenario.variants)) for s in scenario.seeds]
    failed = [failure for cell in in_order for failure in failures[cell]]
    return Result.from_memory(scenario, engine, [done[cell] for cell in in_order], failed)


def _run_into_store(
    scenario: Scenario,
    engine: str,
    runner: Runner,
    options: Options,
    progress: Progress | None,
    out: Path,
    *,
    captures: bool,
) -> Result:
    store = Store.prepare(out, scenario, engine, captures=captures)
    if captures:
        options = replace(options, captures=store.capture_directory)
    with store.locked():
        names = [variant.name for variant in scenario.variants]
        cells = all_cells(scenario)
        missing = [(v, seed) for v, seed in cells if not store.has_cell(names[v], seed)]
        finished = len(cells) - len(missing)
        if progress is not None:
            progress(finished, len(cells))
        options = replace(options, outputs=store.outputs)
        for cell in runner(scenario, missing, options):
            variant, frames = _frames(scenario, cell, engine)
            store.write_cell(
                variant,
                cell.seed,
                frames,
                captures=cell.captures,
                outputs=store.outputs / f"{cell.variant}-{cell.seed}",
                failures=failures_of(cell, variant, frames["flows"]),
            )
            finished += 1
            if progress is not None:
                progress(finished, len(cells))
        store.finish()
    return Result.from_store(store)
