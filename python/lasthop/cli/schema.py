"""``lasthop schema``: the JSON Schema of scenario files."""

from __future__ import annotations

import typer


def schema() -> None:
    """Print the JSON Schema of scenario files, for editors that complete and check."""
    from lasthop.scenario import schema as text

    typer.echo(text())


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("schema")(schema)
