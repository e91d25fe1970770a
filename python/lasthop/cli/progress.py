"""A progress bar on stderr, only where somebody can see it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lasthop.engine import Progress as Report


@contextmanager
def progress_bar(title: str) -> Iterator[Report | None]:
    """A callback that moves the bar; None when stderr is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)

        def report(finished: int, total: int) -> None:
            bar.update(task, completed=finished, total=total)

        yield report
