"""``lasthop catalog``: what a scenario can name."""

from __future__ import annotations

import difflib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from lasthop.errors import LasthopError

if TYPE_CHECKING:
    from rich.console import Console

    from lasthop.scenario import Mechanism


def catalog(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Tell this one in detail.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """List what a scenario can name: senders, personalities, agents, elements, errors, workloads."""
    from lasthop.cli.tables import console
    from lasthop.scenario import catalog as mechanisms

    entries = mechanisms() if name is None else _named(mechanisms(), name)
    if as_json:
        typer.echo(json.dumps([asdict(entry) for entry in entries], indent=2, ensure_ascii=False))
    elif name is None:
        console().print(_overview(entries))
    else:
        for entry in entries:
            _detail(console(), entry)


def _named(entries: list[Mechanism], name: str) -> list[Mechanism]:
    """Entries of that name; a name may be of several kinds."""
    found = [entry for entry in entries if entry.name == name]
    if not found:
        near = difflib.get_close_matches(name, [entry.name for entry in entries], n=1)
        hint = f"; did you mean {near[0]}?" if near else "; `lasthop catalog` lists all"
        raise LasthopError(f"{name}: not in the catalog{hint}")
    return found


def _overview(entries: list[Mechanism]) -> Table:
    table = Table()
    for heading in ("kind", "name", "what it does", "source"):
        table.add_column(heading, overflow="fold")
    kind = ""
    for entry in entries:
        if kind and entry.kind != kind:
            table.add_section()
        table.add_row("" if entry.kind == kind else entry.kind, entry.name, entry.summary, entry.source)
        kind = entry.kind
    return table


def _detail(out: Console, entry: Mechanism) -> None:
    out.print(f"{entry.name} ({entry.kind}): {entry.summary}", markup=False)
    for label, text in (
        ("source", entry.source),
        ("goes in", entry.place),
        ("engines", ", ".join(entry.engines)),
    ):
        if text:
            out.print(f"  {label}: {text}", markup=False)
    if entry.parameters:
        table = Table()
        for heading in ("key", "default", "unit", "meaning"):
            table.add_column(heading, overflow="fold")
        for parameter in entry.parameters:
            table.add_row(parameter.name, parameter.default, parameter.unit, parameter.help)
        out.print(table)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("catalog")(catalog)
