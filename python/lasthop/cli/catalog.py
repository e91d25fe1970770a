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
    from rich.console import Console, Group

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


def _overview(entries: list[Mechanism]) -> Group:
    """One table per kind, with columns of the same widths."""
    from rich.console import Group

    kinds = dict.fromkeys(entry.kind for entry in entries)
    widest = max(len(entry.name) for entry in entries)
    return Group(
        *(_of_kind(kind, [entry for entry in entries if entry.kind == kind], widest) for kind in kinds)
    )


def _of_kind(kind: str, entries: list[Mechanism], widest: int) -> Table:
    table = Table(
        title=kind, title_justify="left", title_style="bold", show_header=False, box=None, expand=True
    )
    table.add_column("name", style="cyan", width=widest, no_wrap=True)
    table.add_column("what it does", overflow="fold", ratio=3)
    table.add_column("source", overflow="fold", ratio=2, style="dim")
    for entry in entries:
        table.add_row(entry.name, entry.summary, entry.source)
    # Room before the next kind.
    table.add_row("")
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
            table.add_column(heading, overflow="fold", no_wrap=heading == "key")
        for parameter in entry.parameters:
            table.add_row(parameter.name, parameter.default, parameter.unit, parameter.help)
        out.print(table)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("catalog")(catalog)
