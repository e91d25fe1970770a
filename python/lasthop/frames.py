"""The tables of a run as Polars frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from lasthop._core import Cell

Column: TypeAlias = (
    npt.NDArray[np.generic]
    | tuple[npt.NDArray[np.uint8], list[str]]
    | tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]
)
"""Values, or codes with the names they stand for, or counts with whether each is known."""

Tables: TypeAlias = dict[str, dict[str, Column]]
"""Table name, then column name."""

TABLES = ("runs", "flows", "stations", "events", "samples", "packets", "mac")
"""Every table of a cell."""

SMALL_TABLES = ("runs", "flows", "stations", "events")
"""Tables with few rows per cell, also kept once for a whole run."""


def series(name: str, column: Column) -> pl.Series:
    """One column; NaN, which stands for "none", and unknown counts become null.

    >>> series("srtt_s", np.array([np.nan, 0.1])).to_list()
    [None, 0.1]
    >>> series("kind", (np.array([1, 0, 1], dtype=np.uint8), ["a", "b"])).to_list()
    ['b', 'a', 'b']
    >>> series("undone", (np.array([3, 0], dtype=np.uint64), np.array([True, False]))).to_list()
    [3, None]
    """
    if isinstance(column, tuple):
        values, names = column
        if isinstance(names, list):
            return pl.Series(name, names, dtype=pl.String).gather(values)
        counts, known = pl.Series(name, values), pl.Series(names)
        return pl.select(pl.when(known).then(counts).alias(name)).to_series()
    whole = pl.Series(name, column)
    if whole.dtype.is_float() and bool(np.isnan(column).any()):
        return whole.fill_nan(None)
    return whole


def _key_columns(variant: str, seed: int) -> list[pl.Expr]:
    return [pl.lit(variant).alias("variant"), pl.lit(seed, dtype=pl.UInt64).alias("seed")]


def table_frame(columns: Mapping[str, Column], variant: str, seed: int) -> pl.DataFrame:
    """One table of one cell, with the cell's variant and seed in front."""
    frame = pl.DataFrame([series(name, column) for name, column in columns.items()])
    keys = _key_columns(variant, seed)
    if frame.height == 0:
        return frame.select(*[key.first() for key in keys], pl.all()).clear()
    return frame.select(*keys, pl.all())


def cell_frames(
    tables: Tables, variant: str, seed: int, engine: str, version: str
) -> dict[str, pl.DataFrame]:
    """Every table of a cell; ``runs`` also names the engine and its version."""
    frames = {name: table_frame(tables.get(name, {}), variant, seed) for name in TABLES}
    origin = [pl.lit(engine).alias("engine"), pl.lit(version).alias("version")]
    runs = frames["runs"]
    rest = pl.all().exclude("variant", "seed", "engine", "version")
    frames["runs"] = runs.select("variant", "seed", *origin, rest)
    return frames


def from_cell(cell: Cell, variant: str, engine: str, version: str) -> dict[str, pl.DataFrame]:
    """Every table of a finished cell."""
    return cell_frames(cell.tables, variant, cell.seed, engine, version)
