"""How late a run in real time may be, and how often it is tried again."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lasthop import _core
from lasthop.errors import LasthopError


@dataclass(frozen=True)
class Timing:
    """What the kernel engines ask of a run; the simulator is never late.

    >>> Timing.of("500 us").lateness_bound_s
    0.0005

    Attributes:
        lateness_bound_s: A run in which one packet of a hundred was later than this is not valid.
        attempts: Runs that are not valid are repeated until this many were tried.
    """

    lateness_bound_s: float = 0.002
    attempts: int = 3

    def __post_init__(self) -> None:
        """Refuses what no run can meet."""
        if not (self.lateness_bound_s > 0 and math.isfinite(self.lateness_bound_s)):
            raise LasthopError(f"the lateness bound must be above zero, not {self.lateness_bound_s:g} s")
        if self.attempts < 1:
            raise LasthopError(f"at least 1 attempt is needed, not {self.attempts}")

    @classmethod
    def of(cls, lateness_bound: str | None = None, attempts: int | None = None) -> Timing:
        """The usual timing with what is given replaced; the bound is spelt with its unit, as ``"2 ms"``.

        Raises:
            LasthopError: When the bound is not a time above zero, or attempts is below 1.
        """
        usual = cls()
        bound_s = usual.lateness_bound_s
        if lateness_bound is not None:
            try:
                bound_s = _core.parse_time(lateness_bound)
            except ValueError as error:
                raise LasthopError(f"lateness bound: {error}") from None
        return cls(bound_s, usual.attempts if attempts is None else attempts)
