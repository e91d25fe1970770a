"""Scenario parser, catalog and engines, compiled from Rust."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lasthop.frames import Tables

version: str

class ScenarioError(ValueError):
    """A scenario that cannot be run; the text names file, line, key and what is allowed."""

class Plan:
    """A scenario expanded into variants and seeds."""

    @staticmethod
    def load(
        text: str,
        file: str = "scenario.toml",
        sets: Sequence[str] = (),
        seeds: Sequence[int] | None = None,
    ) -> Plan: ...
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def seeds(self) -> list[int]: ...
    @property
    def variants(self) -> list[tuple[str, dict[str, str]]]: ...
    def __len__(self) -> int: ...

class Cell:
    """One finished cell."""

    @property
    def variant(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def wall_s(self) -> float: ...
    @property
    def tables(self) -> Tables: ...
    @property
    def captures(self) -> Path | None: ...
    @property
    def failures(self) -> list[tuple[int, str, int | None, str]]: ...

class Cells(Iterator[Cell]):
    """Finished cells in the order in which they finish."""

    def __iter__(self) -> Cells: ...
    def __next__(self) -> Cell: ...
    def stop(self) -> None: ...

def run(
    plan: Plan, cells: Sequence[tuple[int, int]], threads: int = 1, captures: Path | None = None
) -> Cells: ...
def simulator_refusals(plan: Plan) -> list[str | None]: ...
def schema() -> str: ...
def catalog() -> str: ...

class KernelError(RuntimeError):
    """Something the kernel engine cannot do here, in one sentence."""

def kernel_refusals(plan: Plan) -> list[str | None]: ...
def agent_placements(plan: Plan, ebpf: bool) -> list[list[tuple[str, str, str]]]: ...
def run_kernel(
    plan: Plan,
    cells: Sequence[tuple[int, int]],
    captures: Path | None = None,
    ebpf: bool = False,
    curl: bool = False,
    attempts: int = 3,
    lateness_bound_s: float = 0.002,
    outputs: Path | None = None,
) -> Cells: ...
def parse_time(text: str) -> float: ...
def handover(
    lasts: str, element: str | None = None, station: int | None = None, run: str | None = None
) -> tuple[str, str]: ...
def ensure_privileges() -> int | None: ...
def kernel_doctor() -> list[tuple[str, bool, str, str]]: ...
def clean() -> tuple[list[str], int, list[str], list[tuple[int, str]]]: ...
def shell(
    plan: Plan,
    variant: int,
    seed: int,
    command: Sequence[str],
    tell: Callable[..., None] | None = None,
    host: str | None = None,
    serve: Path | None = None,
    server_command: Sequence[str] = (),
    ebpf: bool = False,
) -> int: ...
