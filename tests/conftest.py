"""Fixtures of all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel.support import SCENARIO
from support import EXAMPLES, ROOT, Command, run_lasthop


@pytest.fixture(autouse=True)
def _in_project_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative paths mean what they mean to a user in the project's directory."""
    monkeypatch.chdir(ROOT)


@pytest.fixture
def dumbbell() -> Path:
    return EXAMPLES / "dumbbell.toml"


@pytest.fixture
def wlan() -> Path:
    return EXAMPLES / "wlan.toml"


@pytest.fixture
def wire(tmp_path: Path) -> Path:
    """A download over one wire, a second long."""
    file = tmp_path / "wire.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


@pytest.fixture
def lasthop_command() -> Command:
    """Runs the command line in a process of its own."""
    return run_lasthop
