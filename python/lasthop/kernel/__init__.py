"""The kernel engine from Python: cells on the real stack, in real time.

Hosts become network namespaces with Linux's own TCP and real programs in
them; their packets pass the same path elements and agents as in the simulator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lasthop import _core
from lasthop.errors import EngineError
from lasthop.kernel.doctor import checks
from lasthop.kernel.privileges import become_able
from lasthop.timing import Timing

__all__ = ["become_able", "checks", "run_cells"]


def run_cells(
    plan: _core.Plan,
    cells: Sequence[tuple[int, int]],
    *,
    captures: Path | None = None,
    ebpf: bool = False,
    curl: bool = False,
    timing: Timing | None = None,
    outputs: Path | None = None,
) -> Iterator[_core.Cell]:
    """Runs cells one after the other and yields each as it ends.

    Args:
        plan: What the cells belong to.
        cells: Index of the variant, and seed, of each.
        captures: Where each cell writes captures, in a directory of its own.
        ebpf: Divacks agents run in the kernel instead of on the path.
        curl: Downloads are made by curl from an HTTP server.
        timing: How late a run may be; the usual when None.
        outputs: Where what commands print is kept, in ``VARIANT-SEED`` by the variant's index.

    Raises:
        EngineError: When the kernel cannot play a variant, this user may not
            build hosts, or a run failed.
    """
    asked = timing or Timing()
    try:
        yield from _core.run_kernel(
            plan,
            cells,
            captures,
            ebpf,
            curl,
            attempts=asked.attempts,
            lateness_bound_s=asked.lateness_bound_s,
            outputs=outputs,
        )
    except RuntimeError as error:
        raise EngineError(str(error)) from None
