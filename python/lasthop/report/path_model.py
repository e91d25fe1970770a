"""The path as a reader pictures it: places, and what lies between them."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Kind = Literal["wired", "wifi", "node"]


@dataclass(frozen=True)
class PathElement:
    """A wire, a radio medium, or a named place on the way."""

    name: str
    kind: Kind
    #: What to print at it, one short line each: rate, delay, queue, errors.
    lines: Sequence[str] = ()
    per_flow: bool = False


@dataclass(frozen=True)
class PathHost:
    """A group of equal hosts at one end."""

    name: str
    side: Literal["server", "client"]
    count: int = 1
    lines: Sequence[str] = ()


@dataclass(frozen=True)
class PathAgent:
    """A mechanism and the host or element it stands at."""

    at: str
    name: str


@dataclass(frozen=True)
class PathDescription:
    """Hosts, elements from the server's side to the client's, agents."""

    hosts: Sequence[PathHost]
    elements: Sequence[PathElement]
    agents: Sequence[PathAgent] = field(default_factory=tuple)


_NAME = re.compile(r"\$\{(\w+)\}|\$(\w+)")


class _Spelling:
    """Fills ``$name`` and ``${name}`` in; unknown names stay as they are."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def text(self, value: Any) -> str:
        if isinstance(value, str):
            return _NAME.sub(self._lookup, value)
        if isinstance(value, list):
            return ", ".join(self.text(v) for v in value)
        return str(value).lower() if isinstance(value, bool) else str(value)

    def applies(self, table: Mapping[str, Any]) -> bool:
        """Whether a table's ``when`` lets it in: every parameter has one of the values named."""
        when = table.get("when")
        if not isinstance(when, dict):
            return True
        return all(
            self.text(self._values.get(name, "")) in [self.text(w) for w in _listed(wanted)]
            for name, wanted in when.items()
        )

    def _lookup(self, match: re.Match[str]) -> str:
        name = match.group(1) or match.group(2)
        return self.text(self._values[name]) if name in self._values else match.group(0)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def path_from_scenario(text: str, parameters: Mapping[str, str] | None = None) -> PathDescription | None:
    """Reads the path out of a scenario file.

    ``parameters`` are a variant's values; the scenario's defaults fill the rest.
    Returns ``None`` when the text is no scenario with hosts or a path.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
    hosts, path = document.get("hosts"), document.get("path")
    if not isinstance(hosts, dict) or not isinstance(path, list):
        return None
    spelling = _Spelling({**_defaults(document), **(parameters or {})})
    return PathDescription(
        hosts=tuple(_host(n, t, spelling) for n, t in hosts.items() if spelling.applies(t)),
        elements=tuple(_element(table, spelling) for table in path if spelling.applies(table)),
        agents=tuple(_agents(document, spelling)),
    )


def _defaults(document: Mapping[str, Any]) -> dict[str, Any]:
    parameters = document.get("parameters", {})
    return {
        name: table.get("default", "") if isinstance(table, dict) else table
        for name, table in parameters.items()
    }


def _host(name: str, table: Mapping[str, Any], spelling: _Spelling) -> PathHost:
    side: Literal["server", "client"] = "server" if table.get("side", name) == "server" else "client"
    lines = [
        spelling.text(table[key]) for key in ("personality", "sender", "congestion_control") if key in table
    ]
    count = spelling.text(table.get("count", 1))
    if not count.isdecimal():
        lines.append(f"{count} of them")
    return PathHost(name, side, int(count) if count.isdecimal() else 1, tuple(lines))


def _element(table: Mapping[str, Any], spelling: _Spelling) -> PathElement:
    kind = str(table.get("type", "wired"))
    known: Kind = "wifi" if kind == "wifi" else "node" if kind == "node" else "wired"
    lines = _wifi_lines(table, spelling) if known == "wifi" else _wire_lines(table, spelling)
    return PathElement(
        spelling.text(table.get("name", kind)), known, tuple(lines), table.get("scope") == "per-flow"
    )


def _wire_lines(table: Mapping[str, Any], spelling: _Spelling) -> list[str]:
    first = [spelling.text(table[key]) for key in ("rate", "delay") if key in table]
    lines = [" · ".join(first)] if first else []
    if "queue" in table:
        lines.append(f"queue {spelling.text(table['queue'])}")
    lines += [_error_line(e, spelling) for e in _listed(table.get("errors", [])) if isinstance(e, dict)]
    for direction in ("downlink", "uplink"):
        settings = table.get(direction)
        if isinstance(settings, dict):
            own = [spelling.text(settings[key]) for key in ("rate", "delay") if key in settings]
            own += [f"queue {spelling.text(settings['queue'])}"] if "queue" in settings else []
            lines.append(f"{direction} {' · '.join(own)}" if own else "")
    return [line for line in lines if line]


def _share(probability: str) -> str:
    """A probability as a percentage; several, or what is no number, as spelt."""
    try:
        return f"{100 * float(probability):g}\N{NO-BREAK SPACE}%"
    except ValueError:
        return probability


#: Values that switch an error model off.
_NEVER = ("0", "0.0", "", "[]", "none")


def _error_line(error: Mapping[str, Any], spelling: _Spelling) -> str:
    kind = str(error.get("type", ""))
    if kind == "per-packet":
        probability = spelling.text(error.get("probability", ""))
        return "" if probability in _NEVER else f"loses {_share(probability)} of packets"
    if kind == "per-bit":
        rate = spelling.text(error.get("rate", ""))
        return "" if rate in _NEVER else f"bit errors {rate}"
    if kind == "drop-list":
        packets = spelling.text(error.get("packets", ""))
        short = packets if len(packets) <= 18 else packets[:16].rstrip(", ") + " …"
        return "" if packets in _NEVER else f"drops packets {short}"
    if kind == "gilbert-elliott":
        return "" if spelling.text(error.get("transitions", "on")) in _NEVER else "losses in bursts"
    return kind


def _wifi_lines(table: Mapping[str, Any], spelling: _Spelling) -> list[str]:
    standard = spelling.text(table.get("standard", ""))
    name = f"802.11{standard}" if len(standard) == 1 else standard or "802.11"
    rate = next((spelling.text(table[k]) for k in ("data_rate", "rate") if k in table), "")
    lines = [" · ".join(part for part in (name, rate) if part)]
    if "queue" in table:
        lines.append(f"queue {spelling.text(table['queue'])}")
    protection = spelling.text(table.get("protection", "none"))
    if protection != "none":
        lines.append(protection.upper())
    return lines


def _agents(document: Mapping[str, Any], spelling: _Spelling) -> list[PathAgent]:
    agents = []
    for table in document.get("agents", []):
        if isinstance(table, dict) and spelling.applies(table):
            name = spelling.text(table.get("type", "agent"))
            agents.append(PathAgent(spelling.text(table.get("at", "client")), name))
    return agents
