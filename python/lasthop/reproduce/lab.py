"""Runs scenarios once each and keeps their results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lasthop.engine import Progress, run
from lasthop.errors import LasthopError
from lasthop.result import Result
from lasthop.scenario import Scenario
from lasthop.timing import Timing

SEEDS = 30
"""Seeds per variant unless told otherwise."""


def project_root() -> Path:
    """The directory that holds ``scenarios/`` and ``published/``.

    Raises:
        LasthopError: When neither the current directory nor the one this package was
            installed from in place has them.
    """
    for candidate in (Path.cwd(), *Path.cwd().parents, Path(__file__).resolve().parents[3]):
        if (candidate / "scenarios").is_dir() and (candidate / "published").is_dir():
            return candidate
    raise LasthopError("scenarios/ and published/ are not here; run this in the project's directory")


class Lab:
    """Results by scenario file, run when first asked for.

    Attributes:
        root: The directory that holds ``scenarios/`` and ``published/``.
        seeds: Seeds per variant.
        engine: Which engine runs.
    """

    def __init__(
        self,
        root: Path,
        *,
        seeds: int = SEEDS,
        engine: str = "sim",
        threads: int | None = None,
        out: Path | None = None,
        timing: Timing | None = None,
        progress: Callable[[str], Progress | None] | None = None,
    ) -> None:
        self.root = root
        self.seeds = seeds
        self.engine = engine
        self._threads = threads
        self._out = out
        self._timing = timing
        self._progress = progress
        self._results: dict[str, Result] = {}

    def scenario(self, name: str) -> Scenario:
        """A scenario by its file under ``scenarios/``, with this lab's seeds."""
        file = self.root / "scenarios" / name
        if self.engine.startswith("kernel"):
            # Stacks of the sources' time cannot be played by a kernel of today.
            playable = file.parent / "kernel" / file.name
            file = playable if playable.exists() else file
        return Scenario.from_file(file).with_seeds(self.seeds)

    def result(self, name: str) -> Result:
        """The result of a scenario; runs it the first time."""
        if name not in self._results:
            out = None if self._out is None else self._out / name.removesuffix(".toml")
            progress = None if self._progress is None else self._progress(name)
            self._results[name] = run(
                self.scenario(name),
                threads=self._threads,
                out=out,
                engine=self.engine,
                timing=self._timing,
                progress=progress,
            )
        return self._results[name]

    def forget(self, name: str) -> None:
        """Lets go of a result that is not needed again."""
        self._results.pop(name, None)
