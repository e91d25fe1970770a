"""``lasthop reproduce``: published tables beside ours."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lasthop.cli.timing import AttemptsOption, LatenessBoundOption, timing_of
from lasthop.errors import LasthopError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from lasthop.reproduce import Lab, Outcome, Selection
    from lasthop.reproduce.model import DecidedClaim, ItemOutcome

DEFAULT_REPORT = Path("out/reproduce.html")

_COLOURS = {"agrees": "green", "close": "yellow", "differs": "red", "missing": "red"}


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE[/ITEM]]...",
            help="What to reproduce, as ciminieri/table-7.13.",
            show_default="all",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", min=1, help="Seeds per variant.", show_default="30; 10 in real time"),
    ] = None,
    engine: Annotated[str, typer.Option("--engine", help="sim or kernel.")] = "sim",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
    report: Annotated[bool, typer.Option("--report", help="Also write a report.")] = False,
    report_file: Annotated[
        Path | None,
        typer.Option(
            "--report-file",
            metavar="FILE",
            help="Write the report there.",
            show_default="DIR/report.html, or out/reproduce.html",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Keep every run there; continues them.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="Cells at once.", show_default="one per CPU")
    ] = None,
    write_docs: Annotated[
        Path | None,
        typer.Option("--write-docs", metavar="FILE", help="Also write the validation page; needs all items."),
    ] = None,
    lateness_bound: LatenessBoundOption = None,
    attempts: AttemptsOption = None,
) -> None:
    """Run the sources' experiments and compare with the numbers they published."""
    from lasthop.reproduce import SOURCES, Lab, perform, project_root, select

    selections = select(SOURCES, names or [])
    if write_docs is not None and names:
        raise LasthopError("--write-docs writes about all sources; leave the names out")
    timing = timing_of(engine, lateness_bound, attempts)
    if engine.startswith("kernel"):
        from lasthop.kernel import become_able

        become_able()
    started = time.monotonic()
    seeds = seeds or (10 if engine.startswith("kernel") else 30)
    lab = Lab(project_root(), seeds=seeds, engine=engine, threads=threads, out=out, timing=timing)
    outcome = perform(lab, selections)
    page = _report(lab, selections, outcome, out, report_file) if report or report_file else None
    if write_docs is not None:
        from lasthop.kernel.document import kept_section, with_section
        from lasthop.reproduce.document import validation_page

        before = write_docs.read_text(encoding="utf-8") if write_docs.exists() else ""
        text = with_section(validation_page(lab, selections, outcome), kept_section(before))
        write_docs.write_text(text, encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(outcome.to_dict(), indent=2, ensure_ascii=False, allow_nan=False))
        return
    _show(outcome, time.monotonic() - started)
    for written in (page, write_docs):
        if written is not None:
            typer.echo(f"written: {written}", err=True)


def _report(
    lab: Lab, selections: Sequence[Selection], outcome: Outcome, out: Path | None, file: Path | None
) -> Path:
    from lasthop.reproduce.report import write_reproduction

    target = file or (out / "report.html" if out is not None else DEFAULT_REPORT)
    return write_reproduction(lab, selections, outcome, target)


def _show(outcome: Outcome, seconds: float) -> None:
    from lasthop.cli.tables import console
    from lasthop.reproduce.document import overall_error

    out = console()
    for item in outcome.items:
        if item.rows:
            _show_item(out, item)
        else:
            out.print(f"{item.source} {item.item.name}: {item.item.title} (a figure: no numbers to compare)")
            out.print()
    for claim in outcome.claims:
        _show_claim(out, claim)
    overall = overall_error(outcome)
    if overall is not None:
        out.print(f"Median absolute error over the tables of the aim: {100 * overall:.1f} %", highlight=False)
    plural = "" if outcome.seeds == 1 else "s"
    run = f"{outcome.seeds} seed{plural} per variant, engine {outcome.engine}, {seconds:.1f} s"
    out.print(run, highlight=False)


def _show_item(out: Console, outcome: ItemOutcome) -> None:
    from rich.table import Table

    from lasthop.reproduce.text import spell_at, spell_error, spell_ours, spell_ratio

    table = Table(
        title=f"{outcome.source} {outcome.item.name} · {outcome.item.title}",
        caption=spell_error(outcome) or None,
        title_justify="left",
        caption_justify="left",
    )
    for heading in ("at", "quantity", "published", "ours (95 % CI)", "ratio", "verdict"):
        words = heading in ("at", "quantity", "verdict")
        whole = heading in ("quantity", "published", "ratio", "verdict")
        table.add_column(heading, justify="left" if words else "right", overflow="fold", no_wrap=whole)
    for row in outcome.rows:
        colour = _COLOURS.get(row.verdict)
        verdict = f"[{colour}]{row.verdict}[/]" if colour else row.verdict
        number = row.number
        spread = "" if number.spread is None else f" ± {number.spread:g}"
        table.add_row(
            spell_at(number.at),
            number.quantity,
            f"{number.value:.10g}{spread}",
            spell_ours(row.ours),
            spell_ratio(row),
            verdict,
        )
    out.print(table)
    out.print()


def _show_claim(out: Console, claim: DecidedClaim) -> None:
    from rich.padding import Padding
    from rich.text import Text

    spelt = {True: "[green]holds[/]", False: "[red]does not hold[/]", None: "[yellow]undecided[/]"}
    out.print(f"{spelt[claim.decision.holds]}  {claim.source}: {claim.text}", highlight=False)
    out.print(Padding(Text(claim.decision.evidence), (0, 0, 0, 4)))
    out.print()


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("reproduce")(reproduce)
