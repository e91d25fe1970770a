"""``lasthop shell``: a shell or one command in a scenario's host."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lasthop.cli.run import ScenarioArgument, SetOption
from lasthop.errors import EngineError, LasthopError

if TYPE_CHECKING:
    from collections.abc import Callable

    from lasthop.scenario import Scenario


def shell(
    scenario: ScenarioArgument,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- CMD...]", help="What to run; a shell when left out.", show_default=False),
    ] = None,
    settings: SetOption = None,
    variant: Annotated[
        str | None, typer.Option("--variant", metavar="NAME", help="Which variant.", show_default="the first")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=1, help="Seed of the path.")] = 1,
    host: Annotated[
        str | None,
        typer.Option("--host", metavar="NAME", help="Which host.", show_default="the first client"),
    ] = None,
    serve: Annotated[
        Path | None,
        typer.Option(
            "--serve", metavar="DIR", help="Files of http://server/; http://server/bytes/N is always there."
        ),
    ] = None,
    server_command: Annotated[
        str | None,
        typer.Option("--server-command", metavar="CMD", help='Also run this in the server, as "iperf3 -s".'),
    ] = None,
    ebpf: Annotated[bool, typer.Option("--ebpf", help="Divacks run in the kernel; needs root.")] = False,
) -> None:
    """Run a shell or a command in a client, over the scenario's path in real time.

    Handovers come on schedule, counted from the start. The environment names
    every host's address: LASTHOP_SERVER, LASTHOP_CLIENT, and so on.
    """
    from lasthop import _core
    from lasthop.kernel import become_able
    from lasthop.scenario import Scenario

    entry = Scenario.from_file(scenario).override(*(settings or []))
    index = _find(entry, variant)
    become_able()
    if not command:
        _greet(entry, host)
    with ExitStack() as stack:
        tell = _status_line(stack)
        try:
            status = _core.shell(
                entry.plan,
                index,
                seed,
                command or [],
                tell=tell,
                host=host,
                serve=serve,
                server_command=shlex.split(server_command or ""),
                ebpf=ebpf,
            )
        except _core.KernelError as error:
            raise EngineError(str(error)) from None
        finally:
            _take_terminal_back()
    raise typer.Exit(status)


def _greet(scenario: Scenario, host: str | None) -> None:
    """Where one is and what there is to do, for who sits before a terminal."""
    if not sys.stderr.isatty():
        return
    from lasthop.report.path_model import path_from_scenario

    path = path_from_scenario(scenario.text)
    wifi = path is not None and any(element.kind == "wifi" for element in path.elements)
    roam = "; lasthop handover --lasts '500 ms' takes the radio down" if wifi else ""
    typer.echo(f"in {host or 'the client'} of {scenario.name}, over its path, in real time", err=True)
    typer.echo(f"curl http://server/bytes/1000000 fetches a megabyte{roam}; exit ends", err=True)


def _find(scenario: Scenario, name: str | None) -> int:
    names = [variant.name for variant in scenario.variants]
    if name is None:
        return 0
    if name not in names:
        raise LasthopError(f"no variant {name!r}; there are: {', '.join(names)}")
    return names.index(name)


def _status_line(stack: ExitStack) -> Callable[..., None] | None:
    """A status line, where somebody can see it."""
    if not sys.stderr.isatty():
        return None
    from lasthop.kernel.status_line import StatusLine

    return stack.enter_context(StatusLine(sys.stderr))


def _take_terminal_back() -> None:
    """An interactive shell made itself the terminal's foreground; it cannot undo that from its namespace."""
    if not sys.stdin.isatty():
        return
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        os.tcsetpgrp(sys.stdin.fileno(), os.getpgrp())
    except OSError:
        pass  # The terminal is gone, or belongs to another session.
    finally:
        signal.signal(signal.SIGTTOU, before)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("shell")(shell)
