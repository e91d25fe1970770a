"""The command line as a user without any right."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
"""Makes a command of root's that of a user without any right."""

CONFINED = (
    "unshare", "--user", "--map-root-user", "sh", "-c",
    'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all "$@"',
    "sh",
)  # fmt: skip
"""As well, and in a user namespace in which, and nowhere else, no more of them may be made."""


def as_nobody(*arguments: str | Path, namespaces: bool = True) -> subprocess.CompletedProcess[str]:
    """Runs the command line; without ``namespaces`` where no user namespace may be made."""
    user = NOBODY if namespaces else CONFINED
    command = [*user, sys.executable, "-m", "lasthop", *map(str, arguments)]
    environment = {**os.environ, "HOME": "/nonexistent", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)
