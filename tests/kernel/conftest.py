"""What the tests of the kernel engine share: a scenario it can play, and when to skip."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel.support import SCENARIO, lacks


@pytest.fixture(autouse=True)
def _needs_the_kernel() -> None:
    """Skips with the reason where hosts cannot be built."""
    reason = lacks()
    if reason:
        pytest.skip(f"the kernel engine cannot run here: {reason}")


@pytest.fixture
def wire(tmp_path: Path) -> Path:
    """A download over one wire, a second long."""
    file = tmp_path / "wire.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file
