"""Ctrl-C stops a run in the middle of a cell; complete cells stay."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import lasthop
from kernel.support import SCENARIO, lacks

ENDLESS = SCENARIO.replace('duration = "20 s"', 'duration = "1000 h"')

INTERRUPTED = """
import pathlib, sys
import lasthop
scenario = lasthop.Scenario.from_file(sys.argv[1]).set(bytes=["1 kB", "1000000 GB"])
told = lambda done, _: print(done, flush=True)
try:
    lasthop.run(scenario, engine=sys.argv[2], out=sys.argv[3], progress=told)
except KeyboardInterrupt:
    names = [task.read_text().strip() for task in pathlib.Path("/proc/self/task").glob("*/comm")]
    print("workers left:", sum(name.startswith("lasthop-") for name in names), flush=True)
"""


@pytest.mark.parametrize("engine", ["sim", "kernel"])
def test_an_interrupt_ends_the_cell_and_leaves_complete_ones(engine: str, tmp_path: Path) -> None:
    if engine == "kernel" and lacks():
        pytest.skip(f"the kernel engine cannot run here: {lacks()}")
    file, out = tmp_path / "endless.toml", tmp_path / "out"
    file.write_text(ENDLESS, encoding="utf-8")
    command = [sys.executable, "-c", INTERRUPTED, str(file), engine, str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        # None is done, then the short one; the other would take a thousand hours.
        assert [process.stdout.readline().strip() for _ in range(2)] == ["0", "1"]
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline().strip() == "workers left: 0"
        assert process.wait(timeout=60) == 0
    cells = [path.parent.name for path in (out / "cells").glob("*/1")]
    assert cells == ["bytes=1-kB"]
    assert not list((out / "cells").glob(".partial-bytes*"))
    assert lasthop.Result.open(out).scan("flows").collect().height == 1
