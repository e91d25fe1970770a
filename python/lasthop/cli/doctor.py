"""``lasthop doctor``: what this machine can run, and what to do about the rest."""

from __future__ import annotations

import importlib
import importlib.util
import json
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Annotated

import typer


@dataclass(frozen=True)
class Check:
    """One thing looked at.

    Attributes:
        name: What was looked at.
        ok: Whether it is there.
        needed_for: What does not work without it.
        found: What was found.
        remedy: What to do about a lack; empty when there is none.
    """

    name: str
    ok: bool
    needed_for: str
    found: str
    remedy: str = ""


def _python() -> Check:
    found = platform.python_version()
    return Check("python", sys.version_info >= (3, 10), "everything", found, "install Python 3.10 or newer")


def _core() -> Check:
    from lasthop import __version__

    return Check("lasthop", True, "everything", __version__)


def _simulator() -> Check:
    from lasthop.engine import default_threads

    return Check("simulator", True, "run", f"{default_threads()} cells at once")


def _program(name: str, package: str, needed_for: str) -> Callable[[], Check]:
    def check() -> Check:
        path = shutil.which(name)
        remedy = "" if path else f"apt-get install {package}"
        return Check(name, path is not None, needed_for, path or "not found", remedy)

    return check


CHECKS: tuple[Callable[[], Check], ...] = (
    _python,
    _core,
    _simulator,
    _program("tshark", "tshark", "reading captures"),
    _program("tcptrace", "tcptrace", "reading captures"),
    _program("chromium", "chromium", "tests of the report"),
    _program("ns", "ns2", "the comparison in make bench"),
)
"""What every build looks at."""


def checks() -> Iterator[Check]:
    """Every check, with those of the kernel engine when this build has it."""
    for check in CHECKS:
        yield check()
    if importlib.util.find_spec("lasthop.kernel") is not None:
        yield from importlib.import_module("lasthop.kernel").checks()


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Show what this machine can run, and what to do about each lack."""
    results = list(checks())
    if as_json:
        typer.echo(json.dumps([asdict(result) for result in results], indent=2))
        return
    from rich.table import Table

    from lasthop.cli.tables import console

    out = console()
    table = Table()
    for heading in ("", "what", "found", "needed for"):
        table.add_column(heading, overflow="fold")
    for result in results:
        mark = "[green]yes[/]" if result.ok else "[yellow]no[/]"
        table.add_row(mark, result.name, result.found, result.needed_for)
    out.print(table)
    for result in results:
        if not result.ok and result.remedy:
            out.print(f"{result.name}: {result.remedy}", markup=False, highlight=False)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("doctor")(doctor)
