"""When the tests of the kernel engine are skipped."""

from __future__ import annotations

import pytest

from kernel.support import lacks


@pytest.fixture(autouse=True)
def _needs_the_kernel() -> None:
    """Skips with the reason where hosts cannot be built."""
    reason = lacks()
    if reason:
        pytest.skip(f"the kernel engine cannot run here: {reason}")
