"""``lasthop clean``: remove what killed runs left behind."""

from __future__ import annotations

import typer

from lasthop.errors import EngineError


def clean() -> None:
    """Remove what killed runs of the kernel engine left behind; live runs stay."""
    from lasthop import _core

    try:
        removed, ended, alive, held = _core.clean()
    except _core.KernelError as error:
        raise EngineError(str(error)) from None
    for name in removed:
        typer.echo(f"removed: run {name}")
    if ended:
        typer.echo(f"ended: {ended} programs")
    for name in alive:
        typer.echo(f"left alone: run {name} is alive")
    for number, name in held:
        typer.echo(f"still there: BPF program {name} (number {number}), until a killed run's connection ends")
    if not (removed or ended or alive or held):
        typer.echo("nothing to remove")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("clean")(clean)
