"""``lasthop run``: run a scenario, show or keep what happened."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from lasthop.cli.timing import AttemptsOption, LatenessBoundOption, timing_of

ScenarioArgument = Annotated[
    Path, typer.Argument(metavar="SCENARIO", help="Scenario file (TOML).", show_default=False)
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE[,VALUE...]",
        help="Set a parameter; several values for one make a variant of each. May be repeated.",
    ),
]


def run(
    scenario: ScenarioArgument,
    settings: SetOption = None,
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", min=1, help="Run with seeds 1 to N.", show_default="the scenario's"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Keep every table there; continues a run.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON and nothing else.")
    ] = False,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="Cells at once.", show_default="one per CPU")
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            help="sim (virtual time), kernel (real stack), kernel-ebpf (divacks there too), kernel-curl.",
        ),
    ] = "sim",
    pcap: Annotated[bool, typer.Option("--pcap", help="Also write pcapng captures; needs --out.")] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Also write DIR/report.html; needs --out.")
    ] = False,
    every_metric: Annotated[bool, typer.Option("--all", help="Show every metric.")] = False,
    lateness_bound: LatenessBoundOption = None,
    attempts: AttemptsOption = None,
) -> None:
    """Run every variant of a scenario with every seed."""
    from lasthop.cli.failure import interruptible
    from lasthop.cli.progress import progress_bar
    from lasthop.engine import run as run_scenario
    from lasthop.scenario import Scenario

    _require_out(out, pcap, report)
    timing = timing_of(engine, lateness_bound, attempts)
    plan = Scenario.from_file(scenario).override(*(settings or [])).with_seeds(seeds)
    if engine.startswith("kernel"):
        from lasthop.kernel import become_able

        become_able()
    kept = "" if out is None else f"; complete cells are in {out}, the same command continues"
    with interruptible(kept), progress_bar(plan.name) as progress:
        result = run_scenario(
            plan, threads=threads, out=out, engine=engine, captures=pcap, timing=timing, progress=progress
        )
    page = _write_report(out) if report and out is not None else None
    if as_json:
        typer.echo(result.to_json())
        return
    from lasthop.cli.tables import console, remarks, summary_table

    terminal = console()
    terminal.print(summary_table(result, every_metric=every_metric, width=terminal.width))
    for remark in remarks(result):
        terminal.print(remark, highlight=False, markup=False)
    for written in (out, page):
        if written is not None:
            typer.echo(f"written: {written}", err=True)


def _require_out(out: Path | None, pcap: bool, report: bool) -> None:
    for wanted, option in ((pcap, "--pcap"), (report, "--report")):
        if wanted and out is None:
            raise typer.BadParameter(f"{option} needs --out DIR")
    if report and importlib.util.find_spec("lasthop.report") is None:
        raise typer.BadParameter("--report is not part of this build")


def _write_report(out: Path) -> Path:
    from lasthop.report import write_report

    return write_report([out])


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("run")(run)
