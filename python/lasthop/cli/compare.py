"""``lasthop compare``: simulator and Linux stack side by side."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lasthop.cli.run import SetOption
from lasthop.cli.timing import AttemptsOption, LatenessBoundOption, timing_of

if TYPE_CHECKING:
    from rich.table import Table

    from lasthop.kernel.compare import Row


def compare(
    scenarios: Annotated[list[Path], typer.Argument(metavar="SCENARIO...", help="Scenario files (TOML).")],
    settings: SetOption = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Runs of each variant.")] = 3,
    engine: Annotated[str, typer.Option("--engine", help="kernel or kernel-ebpf.")] = "kernel",
    write_docs: Annotated[
        Path | None,
        typer.Option(
            "--write-docs", metavar="FILE", help="Also write the table into the validation page FILE."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
    threads: Annotated[
        int | None,
        typer.Option("--threads", min=1, help="Simulated cells at once.", show_default="one per CPU"),
    ] = None,
    lateness_bound: LatenessBoundOption = None,
    attempts: AttemptsOption = None,
) -> None:
    """Run scenarios by the simulator and on the Linux stack, and compare."""
    from lasthop.cli.failure import interruptible
    from lasthop.kernel import become_able
    from lasthop.kernel.compare import compare as run_both
    from lasthop.scenario import Scenario

    entries = [Scenario.from_file(file).override(*(settings or [])).with_seeds(seeds) for file in scenarios]
    timing = timing_of(engine, lateness_bound, attempts)
    become_able()
    with interruptible():
        rows = [row for entry in entries for row in run_both(entry, engine, threads, timing)]
    if write_docs is not None:
        from lasthop.kernel.document import engines_section, with_section

        page = write_docs.read_text(encoding="utf-8") if write_docs.exists() else ""
        write_docs.write_text(with_section(page, engines_section(rows, seeds)), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps([row.to_dict() for row in rows], indent=2, allow_nan=False))
        return
    _show(rows)


def _show(rows: Sequence[Row]) -> None:
    from lasthop.cli.tables import console

    out = console()
    for name in dict.fromkeys(row.scenario for row in rows):
        out.print(_table(name, [row for row in rows if row.scenario == name]))
        out.print()
    countable = [abs(row.difference) for row in rows if row.difference is not None and not row.random_loss]
    if countable:
        text = f"median difference without random loss: {_percent(statistics.median(countable))}"
        out.print(f"{text} (of {len(countable)} variants)", highlight=False)


def _table(scenario: str, rows: Sequence[Row]) -> Table:
    from rich.table import Table

    table = Table(title=f"{scenario}: simulated / kernel, medians", title_justify="left")
    for heading in ("variant", "time s", "differs by", "sent again", "cwnd at each RTT, segments"):
        words = heading == "variant" or heading.startswith("cwnd")
        table.add_column(heading, justify="left" if words else "right", overflow="fold", no_wrap=not words)
    for row in rows:
        times, again = (
            " / ".join(_number(value, digits) for value in pair)
            for pair, digits in ((row.times_s, 3), (row.retransmissions, 0))
        )
        windows = "\n".join(" ".join(_number(value, 0) for value in windows) for windows in row.windows)
        name = row.variant + (f"\n{row.invalid} late runs left out" if row.invalid else "")
        table.add_row(name, times, _percent(row.difference), again, windows)
    return table


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:+.1f} %"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("compare")(compare)
