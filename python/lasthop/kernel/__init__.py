"""The kernel engine from Python: cells on the real stack, in real time.

Hosts become network namespaces with Linux's own TCP and real programs in
them; their packets pass the same path elements and agents as in the simulator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lasthop import _core
from lasthop.errors import EngineError
from lasthop.kernel.doctor import checks
from lasthop.kernel.privileges import become_able

__all__ = ["ATTEMPTS", "LATENESS_BOUND_S", "become_able", "checks", "run_cells"]

ATTEMPTS = 3
"""A run that was late is repeated until this many were tried."""

LATENESS_BOUND_S = 0.002
"""A run in which one packet of a hundred was later than this is not valid."""


def run_cells(
    plan: _core.Plan,
    cells: Sequence[tuple[int, int]],
    *,
    captures: bool = False,
    ebpf: bool = False,
    curl: bool = False,
) -> Iterator[_core.Cell]:
    """Runs cells one after the other and yields each as it ends.

    Args:
        plan: What the cells belong to.
        cells: Index of the variant, and seed, of each.
        captures: Whether each cell also yields captures at both hosts.
        ebpf: Divacks agents run in the kernel instead of on the path.
        curl: Downloads are made by curl from an HTTP server.

    Raises:
        EngineError: When the kernel cannot play a variant, this user may not
            build hosts, or a run failed.
    """
    try:
        yield from _core.run_kernel(plan, cells, captures, ebpf, curl, ATTEMPTS, LATENESS_BOUND_S)
    except RuntimeError as error:
        raise EngineError(str(error)) from None
