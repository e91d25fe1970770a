"""Captures of the simulator, read by others' programs."""

from __future__ import annotations

from pathlib import Path

from capture_readers import (
    assert_opens_cleanly,
    assert_shows_division,
    assert_tcptrace_agrees,
    captured,
    complaints,
    needs_tcptrace,
    needs_tshark,
    tcptrace,
    tshark,
)
from kernel.support import LOSSY, SCENARIO
from lasthop import Scenario, run
from support import EXAMPLES


@needs_tshark
def test_a_lossless_download_opens_cleanly(wire: Path, tmp_path: Path) -> None:
    assert_opens_cleanly(captured(wire, tmp_path / "out"))


@needs_tcptrace
@needs_tshark
def test_lost_segments_show_as_retransmissions_and_sack_blocks(tmp_path: Path) -> None:
    lossy = tmp_path / "lossy.toml"
    lossy.write_text(LOSSY, encoding="utf-8")
    cell = captured(lossy, tmp_path / "out")
    assert cell.flow["retransmissions"] > 0
    assert_tcptrace_agrees(cell)
    assert tshark(cell.captures["client"], "-Y", "tcp.options.sack_le")


@needs_tcptrace
@needs_tshark
def test_divided_acks_show_behind_the_agent(wire: Path, tmp_path: Path) -> None:
    cell = captured(wire, tmp_path / "out", "--set", "divacks=3")
    assert_shows_division(cell)
    assert complaints(cell.captures["client"]) == []


@needs_tcptrace
def test_an_agent_on_the_path_is_seen_from_both_sides(tmp_path: Path) -> None:
    gateway = '[[path]]\nname = "gateway"\ntype = "node"\n\n'
    text = SCENARIO.replace("[[path]]", f"{gateway}[[path]]", 1).replace('at = "client"', 'at = "gateway"')
    # Whether an ACK was delayed cannot be told that far from the client.
    text = text.replace('type = "divacks"', 'type = "divacks"\ndivide_delayed_acks = true')
    scenario = tmp_path / "gateway.toml"
    scenario.write_text(text, encoding="utf-8")
    cell = captured(scenario, tmp_path / "out", "--set", "divacks=3")
    assert set(cell.captures) == {"client", "server", "gateway-client-side", "gateway-server-side"}
    before, _ = tcptrace(cell.captures["gateway-client-side"], "pure acks sent")
    behind, _ = tcptrace(cell.captures["gateway-server-side"], "pure acks sent")
    assert behind - before == cell.flow["divided_acks"] > 100
    _, payload = tcptrace(cell.captures["gateway-server-side"], "unique bytes sent")
    assert payload == cell.flow["bytes"]


@needs_tshark
def test_datagrams_are_captured_too(tmp_path: Path) -> None:
    scenario = Scenario.from_file(EXAMPLES / "wlan.toml").set(duration="100 ms")
    out = tmp_path / "out"
    result = run(scenario.with_seeds(1), out=out, captures=True)
    (server,) = out.glob("cells/*/1/server.pcapng")
    assert len(tshark(server, "-Y", "udp.checksum.status != 0")) > 10
    assert complaints(server) == []
    assert result.flows["delivered_bytes"].sum() == sum(
        int(size) - 8 for size in tshark(server, "-T", "fields", "-e", "udp.length")
    )
