"""``via``: an agent as a BPF program or on the path, and how a result tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lasthop
from kernel.normal_user import as_nobody
from kernel.support import SCENARIO
from lasthop.placement import placements
from support import Command, summary_of

PATIENT = ("--engine", "kernel", "--lateness-bound", "10 s")
"""What is counted does not depend on when."""


@pytest.fixture
def both_ways(tmp_path: Path) -> Path:
    """A download with divided ACKs made in BPF and on the path."""
    text = SCENARIO.replace(
        "divacks = { default = 0", 'via = { default = "ebpf", help = "Where." }\ndivacks = { default = 4'
    )
    # A delayed ACK covers as many segments as a busy machine lets it.
    text = text.replace("[[path]]", 'delayed_ack = "off"\n\n[[path]]')
    text = text.replace('count = "$divacks"', 'count = "$divacks"\nvia = "$via"')
    file = tmp_path / "both-ways.toml"
    file.write_text(text + '\n[vary]\nvia = ["ebpf", "userspace"]\n', encoding="utf-8")
    for directory in list(file.parents)[:3]:
        directory.chmod(0o755)
    return file


def test_a_result_tells_which_way_each_agent_ran(
    lasthop_command: Command, both_ways: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    content = summary_of(lasthop_command("run", both_ways, *PATIENT, "--out", out, "--report", "--json"))
    ways = {f"via={via}": [{"agent": "divacks", "at": "client", "via": via}] for via in ("ebpf", "userspace")}
    assert content["agents"] == ways
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert {variant["name"]: variant["agents"] for variant in manifest["variants"]} == ways
    line = "divacks at client: ebpf (via=ebpf), userspace (via=userspace)"
    assert line in (out / "report.html").read_text(encoding="utf-8")
    assert line in lasthop_command("run", both_ways, *PATIENT, "--out", out).stdout
    divided = [content["variants"][name]["divided_acks"]["mean"] for name in ways]
    assert divided[0] == pytest.approx(divided[1], rel=0.05)


def test_the_simulator_runs_the_same_agent_either_way(both_ways: Path) -> None:
    result = lasthop.run(lasthop.Scenario.from_file(both_ways))
    bpf, path = (result.flows.filter(variant=f"via={via}").drop("variant") for via in ("ebpf", "userspace"))
    assert bpf.equals(path)
    assert result.flows["divided_acks"][0] > 0
    assert {agent.via for rows in result.agents.values() for agent in rows} == {"simulator"}


def test_an_engines_choice_is_for_agents_without_one(wire: Path) -> None:
    scenario = lasthop.Scenario.from_file(wire).set(divacks=[4, 65])
    for engine, expected in (("kernel", ["userspace"] * 2), ("kernel-ebpf", ["ebpf", "userspace"])):
        placed = placements(scenario.plan, engine)
        assert [rows[0].via for rows in placed.values()] == expected


def test_who_may_not_use_bpf_hears_so(both_ways: Path) -> None:
    completed = as_nobody("run", both_ways, "--engine", "kernel")
    assert completed.returncode == 2
    assert completed.stderr.startswith("error: ")
    assert "divacks cannot run in the kernel: " in completed.stderr
    assert len(completed.stderr.splitlines()) == 1
