"""Results on disk: Parquet tables and a manifest.

Layout of a result directory::

    manifest.json                       what was run: scenario, seeds, variants, versions
    scenario.toml                       the scenario as given
    runs.parquet  flows.parquet  stations.parquet  events.parquet
                                        all cells, written when the last one is done
    cells/VARIANT/SEED/TABLE.parquet    every table of one cell
    cells/VARIANT/SEED/*.pcapng         captures, when asked for
    cells/VARIANT/SEED/outputs/         what the scenario's commands printed
    cells/VARIANT/SEED/failures.json    programs that failed, when any did

A cell is written under a temporary name and then renamed, so whatever stops a
run leaves a complete cell or none. Nothing in it depends on when or how fast
it ran: the same scenario and seed give the same bytes.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from lasthop import _core
from lasthop.errors import StoreError
from lasthop.failures import Failure, decode, encode
from lasthop.frames import SMALL_TABLES, TABLES
from lasthop.placement import Placement, placements
from lasthop.scenario import Scenario, Variant

FORMAT = 1
"""Version of the layout."""

_PARTIAL = ".partial-"
_FAILURES = "failures.json"
_ROW_GROUP = 1 << 18


def slug(name: str) -> str:
    """A variant's name as a directory name.

    >>> slug("sender=reno, loss=1 %")
    'sender=reno-loss=1'
    """
    return re.sub(r"[^A-Za-z0-9_=+.]+", "-", name).strip("-.") or "variant"


def slugs(names: list[str]) -> dict[str, str]:
    """Directory names of variants, kept apart by a number when they would clash.

    >>> slugs(["a b", "a-b", "A-B"])
    {'a b': 'a-b', 'a-b': 'a-b-2', 'A-B': 'A-B-3'}
    """
    taken: set[str] = set()
    result: dict[str, str] = {}
    for number, name in enumerate(names, start=1):
        candidate = slug(name)
        if candidate.lower() in taken:
            candidate = f"{candidate}-{number}"
        taken.add(candidate.lower())
        result[name] = candidate
    return result


@dataclass(frozen=True)
class Manifest:
    """What a result directory holds.

    Attributes:
        format: Version of the layout.
        scenario: The scenario's name.
        title: One line for people.
        file: Where the scenario came from.
        text: The scenario as TOML.
        overrides: Settings in the form ``name=value``.
        seeds: Seeds each variant ran with.
        variants: Name, parameters and directory of each variant, and where its agents run.
        engine: Which engine ran it.
        captures: Whether cells have captures.
        versions: Versions of what decides the result.
    """

    format: int
    scenario: str
    title: str
    file: str
    text: str
    overrides: list[str]
    seeds: list[int]
    variants: list[dict[str, object]]
    engine: str
    captures: bool
    versions: dict[str, str]

    @classmethod
    def describe(cls, scenario: Scenario, engine: str, *, captures: bool) -> Manifest:
        """The manifest of a run that is about to start."""
        directories = slugs([variant.name for variant in scenario.variants])
        placed = placements(scenario.plan, engine)
        variants: list[dict[str, object]] = [
            {
                "name": v.name,
                "directory": directories[v.name],
                "parameters": v.parameters,
                "agents": [agent.to_dict() for agent in placed[v.name]],
            }
            for v in scenario.variants
        ]
        return cls(
            format=FORMAT,
            scenario=scenario.name,
            title=scenario.title,
            file=Path(scenario.file).name,
            text=scenario.text,
            overrides=list(scenario.overrides),
            seeds=scenario.seeds,
            variants=variants,
            engine=engine,
            captures=captures,
            versions={"lasthop": _core.version},
        )

    def difference(self, other: Manifest) -> str | None:
        """The first thing, other than further seeds, in which two manifests differ."""
        ours, theirs = asdict(self), asdict(other)
        for key in ("format", "scenario", "engine", "captures", "versions", "text", "overrides", "variants"):
            if ours[key] != theirs[key]:
                return key
        return None


class Store:
    """A result directory."""

    def __init__(self, root: Path, manifest: Manifest) -> None:
        self.root = root
        self.manifest = manifest
        self._directories = {str(v["name"]): str(v["directory"]) for v in manifest.variants}

    @classmethod
    def open(cls, root: str | Path) -> Store:
        """Opens a directory that holds results.

        Raises:
            StoreError: When it does not.
        """
        path = Path(root)
        try:
            content = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
            manifest = Manifest(**content)
        except (FileNotFoundError, NotADirectoryError):
            raise StoreError(f"{path}: holds no results (no manifest.json)") from None
        except (OSError, ValueError, TypeError) as error:
            raise StoreError(f"{path}/manifest.json: cannot be read: {error}") from None
        if manifest.format != FORMAT:
            raise StoreError(f"{path}: written in format {manifest.format}, this version reads {FORMAT}")
        return cls(path, manifest)

    @classmethod
    def prepare(cls, root: str | Path, scenario: Scenario, engine: str, *, captures: bool = False) -> Store:
        """Makes a directory ready for a run, or continues the same run in it.

        Raises:
            StoreError: When it holds something else, or cannot be written.
        """
        path = Path(root)
        manifest = Manifest.describe(scenario, engine, captures=captures)
        _refuse_foreign(path, manifest)
        try:
            (path / "cells").mkdir(parents=True, exist_ok=True)
            _write_atomically(path / "scenario.toml", scenario.text.encode())
            text = json.dumps(asdict(manifest), indent=2, ensure_ascii=False) + "\n"
            _write_atomically(path / "manifest.json", text.encode())
        except OSError as error:
            raise StoreError(f"{path}: cannot be written: {error.strerror}") from None
        return cls(path, manifest)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps a second run out of the directory, and clears what a killed one left.

        Raises:
            StoreError: When another run is writing here.
        """
        descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StoreError(f"{self.root}: another run is writing here") from None
            for leftover in (self.root / "cells").glob(f"{_PARTIAL}*"):
                shutil.rmtree(leftover)
            yield
        finally:
            os.close(descriptor)

    @property
    def scenario(self) -> Scenario:
        """The scenario that was run."""
        entry = Scenario.from_text(self.manifest.text, self.manifest.file)
        return entry.override(*self.manifest.overrides).with_seeds(self.manifest.seeds)

    @property
    def variants(self) -> list[Variant]:
        """The variants, as they were when the run started."""
        entries = self.manifest.variants
        return [Variant(str(v["name"]), _parameters(v["parameters"])) for v in entries]

    @property
    def agents(self) -> dict[str, list[Placement]]:
        """Where the agents of each variant ran."""
        return {str(v["name"]): _placements(v.get("agents")) for v in self.manifest.variants}

    def cell_directory(self, variant: str, seed: int) -> Path:
        """Where a cell is, or will be."""
        return self.root / "cells" / self._directories[variant] / str(seed)

    def has_cell(self, variant: str, seed: int) -> bool:
        """Whether a cell is there, every table whole."""
        directory = self.cell_directory(variant, seed)
        return all(_is_whole(directory / f"{table}.parquet") for table in TABLES)

    @property
    def outputs(self) -> Path:
        """Where a cell's outputs are collected until the cell is complete."""
        return self.root / "cells" / f"{_PARTIAL}outputs"

    @property
    def failures(self) -> list[Failure]:
        """Programs that failed, cell by cell."""
        files = [
            self.cell_directory(str(variant["name"]), seed) / _FAILURES
            for variant in self.manifest.variants
            for seed in self.manifest.seeds
        ]
        return [failure for file in files if file.exists() for failure in decode(file.read_text("utf-8"))]

    def write_cell(
        self,
        variant: str,
        seed: int,
        frames: Mapping[str, pl.DataFrame],
        *,
        captures: Path | None = None,
        outputs: Path | None = None,
        failures: Sequence[Failure] = (),
    ) -> None:
        """Writes a cell, all of it or nothing; takes captures and the directory ``outputs`` into it."""
        final = self.cell_directory(variant, seed)
        partial = self.root / "cells" / f"{_PARTIAL}{final.parent.name}-{seed}"
        partial.mkdir()
        for name, frame in frames.items():
            _write_parquet(frame, partial / f"{name}.parquet")
        for capture in captures.glob("*.pcapng") if captures is not None else ():
            capture.rename(partial / capture.name)
        if failures:
            (partial / _FAILURES).write_text(encode(failures), encoding="utf-8")
        if outputs is not None and outputs.exists():
            outputs.rename(partial / "outputs")
        final.parent.mkdir(exist_ok=True)
        if final.exists():
            shutil.rmtree(final)
        partial.rename(final)

    @property
    def capture_directory(self) -> Path:
        """Where captures grow until their cell is complete."""
        return self.root / "cells" / f"{_PARTIAL}captures"

    def finish(self) -> None:
        """Writes the small tables of all cells together."""
        shutil.rmtree(self.outputs, ignore_errors=True)
        shutil.rmtree(self.capture_directory, ignore_errors=True)
        for name in SMALL_TABLES:
            partial = self.root / f"{_PARTIAL}{name}"
            _write_parquet(self.cell_scan(name).collect(), partial)
            partial.replace(self.root / f"{name}.parquet")

    def cell_scan(self, table: str) -> pl.LazyFrame:
        """One table of every complete cell, lazily; cells in the manifest's order."""
        files = [
            self.cell_directory(str(variant["name"]), seed) / f"{table}.parquet"
            for variant in self.manifest.variants
            for seed in self.manifest.seeds
        ]
        present = [file for file in files if file.exists()]
        if not present:
            raise StoreError(f"{self.root}: no cell is complete")
        return pl.scan_parquet(present, hive_partitioning=False)


def _parameters(value: object) -> dict[str, str]:
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else {}


def _placements(value: object) -> list[Placement]:
    return [Placement(**row) for row in value] if isinstance(value, list) else []


def _refuse_foreign(path: Path, manifest: Manifest) -> None:
    if not path.exists():
        return
    if not path.is_dir():
        raise StoreError(f"{path}: is not a directory")
    if not any(path.iterdir()):
        return
    if not (path / "manifest.json").exists():
        raise StoreError(f"{path}: is not empty and holds no results; choose another directory")
    existing = Store.open(path).manifest
    different = existing.difference(manifest)
    if different is None and not set(existing.seeds) <= set(manifest.seeds):
        different = "seeds"
    if different is not None:
        raise StoreError(
            f"{path}: holds results of another run (its {different} differ); "
            "choose another directory or remove this one"
        )


def _write_atomically(path: Path, content: bytes) -> None:
    partial = path.with_name(f"{_PARTIAL}{path.name}")
    partial.write_bytes(content)
    partial.replace(path)


def _write_parquet(frame: pl.DataFrame, path: Path) -> None:
    # Settings are fixed, not defaults: a file's bytes should change with its
    # content only.
    frame.write_parquet(
        path, compression="zstd", compression_level=3, statistics=True, row_group_size=_ROW_GROUP
    )


def _is_whole(path: Path) -> bool:
    """Whether a file ends as a Parquet file does."""
    try:
        with path.open("rb") as file:
            file.seek(-4, os.SEEK_END)
            return file.read() == b"PAR1"
    except OSError:
        return False
