"""The command line: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support import Command, summary_of

SHORT = ("--set", "duration=3 s")
METRICS = ("goodput_bps", "transfer_time_s", "data_packets", "retransmissions", "timeouts")


def test_json_has_the_promised_form(lasthop_command: Command, dumbbell: Path) -> None:
    content = summary_of(
        lasthop_command(
            "run",
            dumbbell,
            *SHORT,
            "--set",
            "sender=reno,sack",
            "--set",
            "loss=0.01",
            "--seeds",
            "3",
            "--json",
        )
    )
    assert set(content) == {"scenario", "engine", "seeds", "agents", "failures", "variants"}
    assert (content["scenario"], content["engine"], content["seeds"]) == ("dumbbell", "sim", [1, 2, 3])
    assert list(content["variants"]) == ["sender=reno", "sender=sack"]
    for metrics in content["variants"].values():
        assert set(METRICS) <= set(metrics)
        for estimate in metrics.values():
            assert set(estimate) == {"mean", "ci95", "n"}
        goodput = metrics["goodput_bps"]
        low, high = goodput["ci95"]
        assert low <= goodput["mean"] <= high
        assert goodput["n"] == 3


def test_one_seed_has_no_interval(lasthop_command: Command, dumbbell: Path) -> None:
    content = summary_of(lasthop_command("run", dumbbell, *SHORT, "--seeds", "1", "--json"))
    (metrics,) = content["variants"].values()
    assert metrics["goodput_bps"]["ci95"] is None
    assert metrics["goodput_bps"]["n"] == 1


def test_json_is_all_there_is_on_stdout_and_no_bar_on_stderr(
    lasthop_command: Command, dumbbell: Path
) -> None:
    completed = lasthop_command("run", dumbbell, *SHORT, "--json")
    json.loads(completed.stdout)
    assert completed.stderr == ""


def test_the_table_names_variants_and_units(lasthop_command: Command, dumbbell: Path) -> None:
    completed = lasthop_command("run", dumbbell, *SHORT, "--set", "sender=tahoe,vegas", "--seeds", "2")
    assert completed.returncode == 0, completed.stderr
    for text in ("sender=tahoe", "sender=vegas", "goodput", "Mbit/s", "95 % confidence"):
        assert text in completed.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--set", "windwo=3"], "window"),
        (["--set", "sender=renoo"], "reno"),
        (["--set", "duration=3 parsecs"], "parsecs"),
        (["--set", "sender"], "="),
        (["--seeds", "0"], "--seeds"),
        (["--engine", "magic"], "kernel"),
        (["--pcap"], "--out"),
        (["--report"], "--out"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(
    lasthop_command: Command, dumbbell: Path, arguments: list[str], says: str
) -> None:
    completed = lasthop_command("run", dumbbell, *arguments)
    assert completed.returncode == 2
    assert completed.stdout == ""
    assert says in completed.stderr
    assert "Traceback" not in completed.stderr


def test_a_missing_file_is_named(lasthop_command: Command, tmp_path: Path) -> None:
    completed = lasthop_command("run", tmp_path / "absent.toml")
    assert completed.returncode == 2
    assert "absent.toml: no such file" in completed.stderr


def test_a_bad_file_is_reported_with_its_line_and_nothing_is_written(
    lasthop_command: Command, tmp_path: Path, dumbbell: Path
) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text(dumbbell.read_text() + "\n[recrod]\nsamples = 'off'\n")
    out = tmp_path / "out"
    completed = lasthop_command("run", bad, "--out", out)
    line = bad.read_text().splitlines().index("[recrod]") + 1
    assert completed.returncode == 2
    assert f"bad.toml:{line}" in completed.stderr
    assert "record" in completed.stderr
    assert not out.exists()


def test_version(lasthop_command: Command) -> None:
    completed = lasthop_command("--version")
    assert completed.returncode == 0
    assert completed.stdout.startswith("lasthop 0.")


def test_schema_describes_the_scenario_file(lasthop_command: Command) -> None:
    schema = json.loads(lasthop_command("schema").stdout)
    assert schema["type"] == "object"
    assert {"hosts", "path", "workloads", "parameters", "vary"} <= set(schema["properties"])


def test_catalog_lists_every_sender_of_the_dumbbell(lasthop_command: Command) -> None:
    completed = lasthop_command("catalog")
    assert completed.returncode == 0, completed.stderr
    for name in (
        "tahoe",
        "reno",
        "newreno",
        "sack",
        "cubic",
        "vegas",
        "westwood",
        "veno",
        "linux-6",
        "divacks",
    ):
        assert name in completed.stdout


def test_catalog_tells_one_entry_in_detail(lasthop_command: Command) -> None:
    completed = lasthop_command("catalog", "cubic")
    assert completed.returncode == 0, completed.stderr
    assert "9438" in completed.stdout


def test_catalog_suggests_the_nearest_name(lasthop_command: Command) -> None:
    completed = lasthop_command("catalog", "cubik")
    assert completed.returncode == 2
    assert "cubic" in completed.stderr


def test_catalog_as_json(lasthop_command: Command) -> None:
    assert "cubic" in json.dumps(json.loads(lasthop_command("catalog", "--json").stdout))


def test_doctor_lists_what_it_looked_at(lasthop_command: Command) -> None:
    checks = json.loads(lasthop_command("doctor", "--json").stdout)
    simulator = next(check for check in checks if check["name"] == "simulator")
    assert simulator["ok"] is True
    assert all(check["ok"] or check["remedy"] for check in checks)


def test_help_without_arguments(lasthop_command: Command) -> None:
    completed = lasthop_command()
    assert "run" in completed.stdout + completed.stderr
