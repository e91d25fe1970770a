"""Captures of the kernel engine, read by others' programs."""

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
)
from kernel.support import LOSSY


@needs_tshark
def test_a_lossless_download_opens_cleanly(wire: Path, tmp_path: Path) -> None:
    assert_opens_cleanly(captured(wire, tmp_path / "out", "--engine", "kernel"))


@needs_tcptrace
def test_tcptrace_counts_what_the_path_counted(tmp_path: Path) -> None:
    lossy = tmp_path / "lossy.toml"
    lossy.write_text(LOSSY, encoding="utf-8")
    run = captured(lossy, tmp_path / "out", "--engine", "kernel")
    assert run.flow["retransmissions"] > 0
    assert_tcptrace_agrees(run)


@needs_tcptrace
@needs_tshark
def test_divided_acks_show_behind_the_agent(wire: Path, tmp_path: Path) -> None:
    run = captured(wire, tmp_path / "out", "--engine", "kernel", "--set", "divacks=3")
    assert_shows_division(run)
    assert complaints(run.captures["client"]) == []


@needs_tcptrace
def test_acks_divided_by_bpf_leave_the_stack_divided(wire: Path, tmp_path: Path) -> None:
    run = captured(wire, tmp_path / "out", "--engine", "kernel-ebpf", "--set", "divacks=3")
    assert sorted(run.captures) == ["client", "server"]
    acks, _ = tcptrace(run.captures["client"], "pure acks sent")
    assert acks >= run.flow["acks_sent"] + run.flow["divided_acks"] > run.flow["acks_sent"]
