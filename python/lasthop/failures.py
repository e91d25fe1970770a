"""Programs that failed, and what they complained of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from lasthop import _core


@dataclass(frozen=True)
class Failure:
    """A flow whose program failed.

    Attributes:
        variant: The variant it belongs to.
        seed: The seed.
        flow: The flow's number within the cell.
        workload: The workload it belongs to.
        reason: What happened, in one sentence.
        exit_code: How a command ended; None when no command did.
        last_lines: The last lines it wrote to its standard error.
    """

    variant: str
    seed: int
    flow: int
    workload: str
    reason: str
    exit_code: int | None
    last_lines: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def spell(self) -> str:
        """The failure in words, the last lines of the program indented below.

        >>> failure = Failure("base", 1, 0, "fetch", "curl x ended with exit status: 6", 6, "no such host")
        >>> print(failure.spell())
        fetch (flow 0, variant base, seed 1): curl x ended with exit status: 6
            no such host
        """
        head = f"{self.workload} (flow {self.flow}, variant {self.variant}, seed {self.seed}): {self.reason}"
        return "\n    ".join([head, *self.last_lines.splitlines()])


def failures_of(cell: _core.Cell, variant: str, flows: pl.DataFrame) -> list[Failure]:
    """What failed in a cell; ``flows`` is its table."""
    workloads = dict(flows.select("flow", "workload").rows())
    return [
        Failure(variant, cell.seed, flow, str(workloads[flow]), reason, exit_code, last_lines)
        for flow, reason, exit_code, last_lines in cell.failures
    ]


def encode(failures: Sequence[Failure]) -> str:
    """Failures as JSON text."""
    return json.dumps([failure.to_dict() for failure in failures], indent=2, ensure_ascii=False) + "\n"


def decode(text: str) -> list[Failure]:
    """Failures from JSON text."""
    return [Failure(**row) for row in json.loads(text)]
