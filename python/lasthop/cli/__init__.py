"""The command line: one module per command.

A command module offers ``register(app)``, which adds its command to the Typer
application. Modules are looked up by name, so a build without one of them
simply lacks that command.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Annotated

import typer

from lasthop.cli.failure import fail
from lasthop.errors import LasthopError, ScenarioError

COMMANDS = (
    "run",
    "report",
    "plot",
    "reproduce",
    "compare",
    "shell",
    "handover",
    "catalog",
    "schema",
    "doctor",
    "clean",
)
"""Command modules in the order in which help lists them."""


def _print_version(wanted: bool) -> None:
    if wanted:
        from lasthop import __version__

        typer.echo(f"lasthop {__version__}")
        raise typer.Exit


def _global_options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """TCP over the last, wireless hop: run scenarios, look at what happened."""
    del version


def build() -> typer.Typer:
    """The application with every command of this build."""
    app = typer.Typer(
        name="lasthop",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_global_options)
    for command in COMMANDS:
        name = f"lasthop.cli.{command}"
        if importlib.util.find_spec(name) is not None:
            importlib.import_module(name).register(app)
    return app


def main() -> None:
    """Entry point: errors a user can put right are one message and exit code 2."""
    try:
        build()()
    except (ScenarioError, LasthopError) as error:
        sys.exit(fail(str(error)))
    except BrokenPipeError:
        # The reader of our output went away (`| head`); nobody is left to tell.
        sys.stderr.close()
        sys.exit(1)
