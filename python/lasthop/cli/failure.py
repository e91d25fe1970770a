"""How a command fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED = 130
"""Exit code after Ctrl-C."""

USAGE = 2
"""Exit code for anything the user can put right."""


def fail(message: str, code: int = USAGE) -> int:
    """Writes one message to stderr and returns the exit code."""
    text = message if message.startswith("error") else f"error: {message}"
    print(text, file=sys.stderr)  # noqa: T201
    return code


@contextmanager
def interruptible(consolation: str = "") -> Iterator[None]:
    """Ends the command with one line when Ctrl-C arrives inside."""
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(fail(f"interrupted{consolation}", INTERRUPTED))
