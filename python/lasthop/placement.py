"""Where agents run: by which engine, and on the Linux stack as what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from lasthop import _core

SIMULATOR = "simulator"
"""How every agent of the simulator runs."""

BPF_ENGINES = ("kernel-ebpf", "kernel-curl")
"""Engines that run agents as BPF programs where that can be and the scenario does not say otherwise."""


@dataclass(frozen=True)
class Placement:
    """Where one agent of a variant runs.

    Attributes:
        agent: The mechanism's name.
        at: The host group or path element it stands at.
        via: ``ebpf``, ``userspace`` or ``simulator``.
    """

    agent: str
    at: str
    via: str

    def to_dict(self) -> dict[str, str]:
        """Plain data."""
        return asdict(self)


Placements = Mapping[str, Sequence[Placement]]
"""The agents of each variant, in the scenario's order."""


def placements(plan: _core.Plan, engine: str) -> dict[str, list[Placement]]:
    """Where the agents of each variant run by the engine called ``engine``."""
    names = [name for name, _ in plan.variants]
    ways = _core.agent_placements(plan, engine in BPF_ENGINES)
    simulated = not engine.startswith("kernel")
    return {
        name: [Placement(agent, at, SIMULATOR if simulated else via) for agent, at, via in rows]
        for name, rows in zip(names, ways, strict=True)
    }


def spell(placed: Placements) -> list[str]:
    """One line for each agent that runs on the Linux stack, with its variants where they differ.

    >>> bpf, path = Placement("divacks", "client", "ebpf"), Placement("divacks", "client", "userspace")
    >>> spell({"a": [bpf], "b": [bpf], "c": []})
    ['divacks at client: ebpf']
    >>> spell({"a": [bpf], "b": [path]})
    ['divacks at client: ebpf (a), userspace (b)']
    >>> spell({"a": [Placement("divacks", "client", "simulator")]})
    []
    """
    ways: dict[tuple[str, str], dict[str, list[str]]] = {}
    for variant, rows in placed.items():
        for row in rows:
            if row.via != SIMULATOR:
                names = ways.setdefault((row.agent, row.at), {}).setdefault(row.via, [])
                names.append(variant)
    return [f"{agent} at {at}: {_ways(by_way)}" for (agent, at), by_way in ways.items()]


def _ways(by_way: Mapping[str, Sequence[str]]) -> str:
    if len(by_way) == 1:
        return next(iter(by_way))
    return ", ".join(f"{via} ({', '.join(dict.fromkeys(names))})" for via, names in by_way.items())
