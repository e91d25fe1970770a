"""What the tests share: paths, and the command line in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "scenarios" / "examples"

Command = Callable[..., "subprocess.CompletedProcess[str]"]


def run_lasthop(*arguments: str | Path, **more: Any) -> subprocess.CompletedProcess[str]:
    """Runs the command line to its end."""
    command = [sys.executable, "-m", "lasthop", *map(str, arguments)]
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, **more)


def summary_of(completed: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The JSON a successful run printed."""
    assert completed.returncode == 0, completed.stderr
    content: dict[str, Any] = json.loads(completed.stdout)
    return content
