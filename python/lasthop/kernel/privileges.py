"""Running as a normal user."""

from __future__ import annotations

import sys

from lasthop import _core
from lasthop.errors import EngineError


def become_able() -> None:
    """Returns when this process may build hosts; for the command line only.

    A normal user's program runs again as the root of a user namespace of its
    own. That second life does all the work; this one ends with its exit code.

    Raises:
        EngineError: When this machine allows neither.
    """
    try:
        status = _core.ensure_privileges()
    except _core.KernelError as error:
        raise EngineError(str(error)) from None
    if status is not None:
        sys.exit(status)
