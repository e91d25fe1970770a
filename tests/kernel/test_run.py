"""``--engine kernel``: the same tables as the simulator's, or one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import lasthop
from support import EXAMPLES, Command, summary_of

FILE_BYTES = 200 << 10


def test_a_download_arrives_and_has_the_simulators_tables(wire: Path) -> None:
    scenario = lasthop.Scenario.from_file(wire)
    simulated, real = (lasthop.run(scenario, engine=engine) for engine in ("sim", "kernel"))
    assert (
        real.flows["delivered_bytes" if "delivered_bytes" in real.flows.columns else "bytes"][0] == FILE_BYTES
    )
    assert real.flows["acked_bytes"][0] == FILE_BYTES
    assert set(simulated.flows.columns) == set(real.flows.columns)
    assert set(simulated.samples.columns) == set(real.samples.columns)
    assert real.samples.height > 0
    # Every byte in full segments, by either stack.
    assert real.flows["data_packets"][0] == simulated.flows["data_packets"][0]
    assert {"valid", "attempts", "lateness_p99_s", "stolen_s", "backlog_coalesced"} <= set(real.runs.columns)


def test_curl_moves_the_same_bytes(wire: Path) -> None:
    result = lasthop.run(lasthop.Scenario.from_file(wire), engine="kernel-curl")
    assert result.flows["bytes"][0] == FILE_BYTES
    assert result.flows["transfer_time_s"][0] > 0.04


def test_divided_acks_move_a_sender_that_counts_them(wire: Path) -> None:
    scenario = lasthop.Scenario.from_file(wire).set(counting="per-ack", divacks=[0, 8])
    for engine in ("kernel", "kernel-ebpf"):
        result = lasthop.run(scenario, engine=engine)
        if (result.runs["valid"] == 0).any():
            pytest.skip("this machine is too busy: a run was late beyond the bound")
        flows = result.flows.sort("variant")
        plain, divided = (
            flows["variant"].to_list().index("divacks=0"),
            flows["variant"].to_list().index("divacks=8"),
        )
        assert flows["divided_acks"][plain] == 0
        assert flows["divided_acks"][divided] > 100
        assert flows["transfer_time_s"][divided] < flows["transfer_time_s"][plain]


def test_a_fixed_buffer_is_announced_whole_and_stays(wire: Path) -> None:
    text = wire.read_text(encoding="utf-8").replace('samples = "10 ms"', "packets = true")
    fixed = text.replace("[[path]]", 'receive_buffer = "200 segments"\n\n[[path]]')
    wire.write_text(fixed, encoding="utf-8")
    scenario = lasthop.Scenario.from_file(wire)
    for engine in ("sim", "kernel"):
        packets = lasthop.run(scenario, engine=engine).packets
        acks = packets.filter(
            (pl.col("place") == "client") & (pl.col("direction") == "uplink") & (pl.col("ack_bytes") > 0)
        )
        # Linux may add a segment or two before its program has read anything.
        assert acks["window_bytes"].unique().is_between(200 * 1448, 202 * 1448).all(), engine
        assert acks["window_bytes"].median() == 200 * 1448, engine


def test_both_engines_carry_the_same_packets_over_ipv6(wire: Path) -> None:
    text = wire.read_text(encoding="utf-8").replace('samples = "10 ms"', "packets = true")
    wire.write_text(f'ip = "ipv6"\n{text}', encoding="utf-8")
    scenario = lasthop.Scenario.from_file(wire)
    for engine in ("sim", "kernel"):
        packets = lasthop.run(scenario, engine=engine).packets
        longest = packets.sort("length_bytes")[-1]
        assert (longest["length_bytes"][0], longest["wire_bytes"][0]) == (1428, 1500), engine


def test_any_congestion_control_of_the_kernel_can_be_taken(wire: Path, lasthop_command: Command) -> None:
    own = "kernel_congestion_control = "
    plain = 'congestion_control = "reno"\nack_counting = "$counting"'
    text = wire.read_text(encoding="utf-8")
    wire.write_text(text.replace(plain, f'{own}"reno"'), encoding="utf-8")
    (metrics,) = summary_of(lasthop_command("run", wire, "--engine", "kernel", "--json"))["variants"].values()
    assert metrics["transfer_time_s"]["n"] == 1

    simulated = lasthop_command("run", wire, "--out", wire.parent / "out")
    assert simulated.returncode == 2
    assert not (wire.parent / "out").exists()
    assert 'host "server" takes "reno" from the Linux kernel' in simulated.stderr
    assert len(simulated.stderr.splitlines()) == 1

    wire.write_text(text.replace(plain, f'{own}"no_such_one"'), encoding="utf-8")
    unknown = lasthop_command("run", wire, "--engine", "kernel")
    assert unknown.returncode == 2
    assert 'no congestion control "no_such_one" loaded (it has reno' in unknown.stderr


def test_what_the_kernel_cannot_play_is_one_sentence(lasthop_command: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    completed = lasthop_command("run", EXAMPLES / "dumbbell.toml", "--engine", "kernel", "--out", out)
    assert completed.returncode == 2
    assert completed.stdout == ""
    assert completed.stderr.startswith("error: the kernel engine cannot play this scenario: ")
    assert len(completed.stderr.splitlines()) == 1
    assert not out.exists()


def test_doctor_tells_of_the_kernel_engine(lasthop_command: Command) -> None:
    rows = {row["name"]: row for row in json.loads(lasthop_command("doctor", "--json").stdout)}
    assert {"kernel", "root", "network namespaces", "tun", "congestion controls", "timing"} <= set(rows)
    assert any(name.startswith("bpf: ") for name in rows)
    assert all(row["remedy"] for row in rows.values() if not row["ok"])
