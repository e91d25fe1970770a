"""The options of commands that run on the Linux stack, in real time."""

from __future__ import annotations

from typing import Annotated

import typer

from lasthop.timing import Timing

LatenessBoundOption = Annotated[
    str | None,
    typer.Option(
        "--lateness-bound",
        metavar="TIME",
        help='Kernel engines: a run in which 1 packet of 100 is later than this is not valid, as "2 ms".',
        show_default="2 ms",
    ),
]
AttemptsOption = Annotated[
    int | None,
    typer.Option(
        "--attempts", min=1, help="Kernel engines: runs of a cell until one is valid.", show_default="3"
    ),
]


def timing_of(engine: str, lateness_bound: str | None, attempts: int | None) -> Timing:
    """What the options ask for.

    Raises:
        BadParameter: When the engine runs in virtual time.
        LasthopError: When the bound is not a time above zero.
    """
    for option, value in (("--lateness-bound", lateness_bound), ("--attempts", attempts)):
        if value is not None and not engine.startswith("kernel"):
            raise typer.BadParameter(f"{option} is for kernel engines; engine {engine} is never late")
    return Timing.of(lateness_bound, attempts)
