"""``lasthop report``: one offline HTML page from result directories."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    directories: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="Result directories; several (of two engines, say) are shown side by side.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Where to write it.", show_default="DIR/report.html"),
    ] = None,
) -> None:
    """Write a report: the answer, the path, plots over time, all runs."""
    from lasthop.report import write_report

    typer.echo(f"written: {write_report(directories, out)}")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("report")(report)
