"""``lasthop handover``: take a radio down in a run that is going on."""

from __future__ import annotations

from typing import Annotated

import typer

from lasthop.errors import EngineError, LasthopError


def handover(
    element: Annotated[
        str | None,
        typer.Argument(
            metavar="ELEMENT",
            help="The path element whose radio is meant.",
            show_default="its Wi-Fi element",
        ),
    ] = None,
    lasts: Annotated[
        str, typer.Option("--lasts", metavar="TIME", help='How long the radio is down, as "500 ms".')
    ] = "500 ms",
    station: Annotated[
        int | None,
        typer.Option("--station", min=1, help="Only this client, counted from 1.", show_default="all"),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--run", metavar="NAME", help="In which run.", show_default="the one this is in, or the only one"
        ),
    ] = None,
) -> None:
    """Take the radio down now, in a shell or run of the kernel engine that is going on.

    Works from another terminal, and from inside a lasthop shell.
    """
    from lasthop import _core

    try:
        name, down = _core.handover(lasts, element, station, run)
    except ValueError as error:
        raise LasthopError(f"--lasts: {error}") from None
    except _core.KernelError as error:
        raise EngineError(str(error)) from None
    typer.echo(f"run {name}: {down}")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("handover")(handover)
