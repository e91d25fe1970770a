"""``lasthop plot``: one figure for a paper."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class FigureKind(str, Enum):
    """What to draw."""

    SEQUENCE = "sequence"
    CWND = "cwnd"
    ACK_RATE = "ack-rate"
    DISTRIBUTION = "distribution"


def plot(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Result directory.", show_default=False)],
    figure: Annotated[
        Path,
        typer.Option(
            "--figure", metavar="FILE", help="Where to draw it: .pdf, .svg or .png.", show_default=False
        ),
    ],
    kind: Annotated[FigureKind, typer.Option("--kind", help="What to draw.")] = FigureKind.SEQUENCE,
    variant: Annotated[
        str | None, typer.Option("--variant", help="Which variant.", show_default="the baseline")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Which seed.", show_default="the most typical")
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option("--metric", help="What a distribution shows.", show_default="the deciding metric"),
    ] = None,
) -> None:
    """Draw a figure for a paper, the same bytes every time."""
    from lasthop.report import report_of_directories, write_figure

    drawn = write_figure(
        report_of_directories([directory]), figure, kind.value, variant=variant, seed=seed, metric=metric
    )
    typer.echo(f"written: {drawn}")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("plot")(plot)
