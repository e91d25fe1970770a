"""The compiled module: arrays without copies, errors, threads, Ctrl-C."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lasthop import _core

COUNT_COLUMNS = ("data_packets", "retransmissions", "timeouts")


@pytest.fixture
def plan(dumbbell: Path) -> _core.Plan:
    sets = ["duration=3 s", "sender=reno,sack", "loss=0.01"]
    return _core.Plan.load(dumbbell.read_text(), str(dumbbell), sets, [1, 2])


def test_a_plan_tells_its_variants_and_seeds(plan: _core.Plan) -> None:
    assert plan.name == "dumbbell"
    assert plan.seeds == [1, 2]
    assert [name for name, _ in plan.variants] == ["sender=reno", "sender=sack"]
    assert plan.variants[0][1]["sender"] == "reno"
    assert len(plan) == 4


def test_columns_are_arrays_that_own_no_copy(plan: _core.Plan) -> None:
    (cell,) = _core.run(plan, [(0, 1)])
    column = cell.tables["samples"]["cwnd_bytes"]
    assert isinstance(column, np.ndarray)
    assert column.dtype == np.float64
    assert len(column) > 100
    # NumPy looks at memory that the engine's own vector handed over.
    assert not column.flags.owndata
    assert column.base is not None


def test_categories_are_codes_and_names(plan: _core.Plan) -> None:
    (cell,) = _core.run(plan, [(0, 1)])
    column = cell.tables["flows"]["workload"]
    assert isinstance(column, tuple)
    codes, names = column
    assert codes.dtype == np.uint8
    assert [names[code] for code in codes] == names


@pytest.mark.parametrize("threads", [1, 2, 16])
def test_every_cell_arrives_once_whatever_the_threads(plan: _core.Plan, threads: int) -> None:
    wanted = [(variant, seed) for variant in (0, 1) for seed in (1, 2, 3, 4, 5)]
    cells = list(_core.run(plan, wanted, threads))
    assert sorted((cell.variant, cell.seed) for cell in cells) == sorted(wanted)


def test_the_number_of_threads_changes_no_number(plan: _core.Plan) -> None:
    wanted = [(variant, seed) for variant in (0, 1) for seed in range(1, 7)]

    def counts(threads: int) -> dict[tuple[int, int], list[int]]:
        result = {}
        for cell in _core.run(plan, wanted, threads):
            columns = [cell.tables["flows"][name] for name in COUNT_COLUMNS]
            result[cell.variant, cell.seed] = [int(np.asarray(column).sum()) for column in columns]
        return result

    assert counts(1) == counts(4)


def test_a_variant_that_is_not_there_is_refused(plan: _core.Plan) -> None:
    with pytest.raises(IndexError, match="no variant 7"):
        _core.run(plan, [(7, 1)])


def test_no_cells_are_no_work(plan: _core.Plan) -> None:
    assert list(_core.run(plan, [])) == []


def test_a_bad_scenario_is_an_error_with_its_place(dumbbell: Path) -> None:
    with pytest.raises(_core.ScenarioError, match=r"bad\.toml:\d+"):
        _core.Plan.load(dumbbell.read_text() + "\n[nonsense]\n", "bad.toml")


def test_a_setting_without_a_value_is_an_error(dumbbell: Path) -> None:
    with pytest.raises(_core.ScenarioError, match="a value is missing"):
        _core.Plan.load(dumbbell.read_text(), "dumbbell.toml", ["sender"])


def test_captures_come_only_when_asked_for_and_change_no_table(plan: _core.Plan, tmp_path: Path) -> None:
    (plain,) = _core.run(plan, [(0, 1)])
    (captured,) = _core.run(plan, [(0, 1)], captures=tmp_path)
    assert plain.captures is None
    assert captured.captures is not None
    files = sorted(captured.captures.iterdir())
    assert [file.name for file in files] == ["client.pcapng", "server.pcapng"]
    # The first word of a pcapng section header.
    assert all(file.read_bytes()[:4] == b"\x0a\x0d\x0d\x0a" for file in files)
    for name, columns in plain.tables.items():
        for column, values in columns.items():
            other = captured.tables[name][column]
            if isinstance(values, tuple):
                assert isinstance(other, tuple)
                assert values[1] == other[1]
                values, other = values[0], other[0]
            np.testing.assert_array_equal(values, other)


def test_schema_and_catalog_are_json() -> None:
    assert json.loads(_core.schema())["type"] == "object"
    assert {"name", "kind", "summary", "source"} <= set(json.loads(_core.catalog())[0])
