"""Draws the path as SVG: places as icons, wires as lines, radio as waves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from .path_model import PathDescription, PathElement, PathHost

Orientation = Literal["horizontal", "vertical"]


@dataclass(frozen=True)
class _Node:
    """A place: an icon, its name, remarks below it, agents standing there."""

    icon: Literal["server", "router", "access-point", "client", "place"]
    name: str
    lines: Sequence[str]
    agents: Sequence[str]


@dataclass(frozen=True)
class _Edge:
    kind: Literal["wired", "wifi", "joint"]
    name: str
    lines: Sequence[str]


def draw_path(path: PathDescription, orientation: Orientation = "horizontal") -> str:
    """The path as one inline ``<svg>`` whose colours come from the page's CSS."""
    nodes, edges = _chain(path)
    canvas = _Horizontal(nodes, edges) if orientation == "horizontal" else _Vertical(nodes, edges)
    return canvas.draw()


def describe_path(path: PathDescription) -> str:
    """The same path as a sentence, for readers who cannot see the drawing."""
    parts = []
    nodes, edges = _chain(path)
    for index, node in enumerate(nodes):
        agents = f" with {', '.join(node.agents)}" if node.agents else ""
        parts.append(f"{node.name}{agents}")
        if index < len(edges) and edges[index].kind != "joint":
            detail = f" ({', '.join(edges[index].lines)})" if edges[index].lines else ""
            medium = "Wi-Fi" if edges[index].kind == "wifi" else "wire"
            parts.append(f"{medium} {edges[index].name}{detail}".strip())
    return " — ".join(parts)


def _host_node(hosts: Sequence[PathHost], path: PathDescription, side: str) -> _Node:
    own = [h for h in hosts if h.side == side]
    names = [f"{h.name} × {h.count}" if h.count > 1 else h.name for h in own] or [side]
    lines = list(dict.fromkeys(line for h in own for line in h.lines))
    at = {h.name for h in own}
    agents = tuple(dict.fromkeys(a.name for a in path.agents if a.at in at))
    icon: Literal["server", "client"] = "server" if side == "server" else "client"
    return _Node(icon, ", ".join(names), tuple(lines), agents)


class _Chain:
    """Places and connections in turn, from the server to the clients."""

    def __init__(self, first: _Node) -> None:
        self.nodes = [first]
        self.edges: list[_Edge] = []
        self._pending: _Edge | None = None

    def place(self, node: _Node) -> None:
        self.edges.append(self._pending or _Edge("joint", "", ()))
        self.nodes.append(node)
        self._pending = None

    def pass_through(self, element: PathElement, agents: Sequence[str]) -> None:
        """An element starts at a place of its own unless it can start at the last one."""
        wifi = element.kind == "wifi"
        if self._pending is not None or wifi or agents:
            icon: Literal["access-point", "router"] = "access-point" if wifi else "router"
            self.place(_Node(icon, "access point" if wifi else "router", (), agents))
        name = f"{element.name} (one per flow)" if element.per_flow else element.name
        self._pending = _Edge("wifi" if wifi else "wired", name, element.lines)


def _chain(path: PathDescription) -> tuple[list[_Node], list[_Edge]]:
    chain = _Chain(_host_node(path.hosts, path, "server"))
    for element in path.elements:
        agents = tuple(dict.fromkeys(a.name for a in path.agents if a.at == element.name))
        if element.kind == "node":
            chain.place(_Node("place", element.name, element.lines, agents))
        else:
            chain.pass_through(element, agents)
    chain.place(_host_node(path.hosts, path, "client"))
    return chain.nodes, chain.edges


def _icon(kind: str, x: float, y: float) -> str:
    """A pictogram centred on (x, y), about 44 by 36 units."""
    shapes = {
        "server": '<rect x="-15" y="-18" width="30" height="36" rx="3"/>'
        '<path d="M-15-6h30M-15 6h30"/><circle cx="9" cy="-12" r="1.6"/>'
        '<circle cx="9" cy="0" r="1.6"/><circle cx="9" cy="12" r="1.6"/>',
        "router": '<rect x="-19" y="-9" width="38" height="18" rx="4"/>'
        '<path d="M-11 0h9m-3-3 3 3-3 3M11 0h-9"/>',
        "access-point": '<rect x="-17" y="2" width="34" height="14" rx="4"/>'
        '<path d="M0 2V-6M-6-9a8.5 8.5 0 0 1 12 0M-11-14a15.5 15.5 0 0 1 22 0"/>',
        "client": '<rect x="-15" y="-15" width="30" height="21" rx="2.5"/><path d="M-20 12h40l-3-6h-34z"/>',
        "place": '<circle r="11"/><path d="M0-5v10M-5 0h10"/>',
    }
    return f'<g class="icon" transform="translate({x:.1f} {y:.1f})">{shapes[kind]}</g>'


def _text(x: float, y: float, text: str, css: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{css}">{escape(text)}</text>'


def _badge(x: float, y: float, text: str) -> str:
    width = 16 + 6.9 * len(text)
    return (
        f'<g class="badge"><rect x="{x - width / 2:.1f}" y="{y - 13:.1f}" width="{width:.1f}"'
        f' height="19" rx="9.5"/>{_text(x, y + 1, text, "badge-text")}</g>'
    )


def _wave(x0: float, y0: float, x1: float, y1: float) -> str:
    """A sine between two points: the radio hop."""
    horizontal = abs(x1 - x0) >= abs(y1 - y0)
    length = abs(x1 - x0) + abs(y1 - y0)
    half_waves = max(2, round(length / 13))
    step = length / half_waves
    parts = [f"M{x0:.1f} {y0:.1f}"]
    for k in range(half_waves):
        swing = 9 if k % 2 == 0 else -9
        parts.append(
            f"q{step / 2:.2f} {-swing} {step:.2f} 0"
            if horizontal
            else f"q{swing} {step / 2:.2f} 0 {step:.2f}"
        )
    return f'<path class="radio" d="{"".join(parts)}"/>'


def _line(kind: str, x0: float, y0: float, x1: float, y1: float) -> str:
    if kind == "wifi":
        return _wave(x0, y0, x1, y1)
    css = "joint" if kind == "joint" else "wire"
    return f'<path class="{css}" d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}"/>'


def _text_width(text: str) -> float:
    return 7.1 * len(text)


def _half_width(node: _Node) -> float:
    name = 1.25 * _text_width(node.name)  # Names are larger and bold.
    return max(52.0, name, *(_text_width(t) for t in (*node.lines, *node.agents))) / 2


class _Horizontal:
    """Server on the left, clients on the right; remarks below."""

    def __init__(self, nodes: Sequence[_Node], edges: Sequence[_Edge]) -> None:
        self._nodes, self._edges = nodes, edges

    def draw(self) -> str:
        axis = 50.0
        margin = max(66.0, *(_half_width(n) + 8 for n in (self._nodes[0], self._nodes[-1])))
        x, depth = margin, 0.0
        parts: list[str] = []
        for index, node in enumerate(self._nodes):
            parts.append(self._node(node, x, axis))
            depth = max(depth, 1 + len(node.lines) + 1.5 * len(node.agents))
            if index < len(self._edges):
                edge = self._edges[index]
                length = self._length(edge, node, self._nodes[index + 1])
                parts.append(_line(edge.kind, x + 26, axis, x + length - 26, axis))
                middle = x + length / 2
                parts.append(_text(middle, axis - 18, edge.name, "edge-name"))
                parts += [
                    _text(middle, axis + 22 + 17 * k, line, "edge-line") for k, line in enumerate(edge.lines)
                ]
                depth = max(depth, len(edge.lines))
                x += length
        width, height = x + margin, axis + 30 + 18 * depth + 8
        return _svg(width, height, parts, "path-wide")

    @staticmethod
    def _length(edge: _Edge, left: _Node, right: _Node) -> float:
        """Long enough that remarks at the edge and at both its places do not touch."""
        longest = max((_text_width(t) for t in (edge.name, *edge.lines)), default=0)
        least = 120.0 if edge.kind == "joint" else 190.0
        # The edge's remarks stand in its middle, so both sides need what the wider place takes.
        return max(least, longest + 2 * max(_half_width(left), _half_width(right)) + 24)

    @staticmethod
    def _node(node: _Node, x: float, y: float) -> str:
        parts = [_icon(node.icon, x, y), _text(x, y + 37, node.name, "node-name")]
        parts += [_text(x, y + 54 + 16 * k, t, "node-line") for k, t in enumerate(node.lines)]
        below = y + 60 + 16 * len(node.lines)
        parts += [_badge(x, below + 24 * k, a) for k, a in enumerate(node.agents)]
        return "".join(parts)


class _Vertical:
    """Server on top, clients at the bottom; remarks to the right (small screens)."""

    def __init__(self, nodes: Sequence[_Node], edges: Sequence[_Edge]) -> None:
        self._nodes, self._edges = nodes, edges

    def draw(self) -> str:
        axis, y, parts = 34.0, 34.0, []
        for index, node in enumerate(self._nodes):
            parts.append(self._node(node, axis, y))
            if index < len(self._edges):
                edge = self._edges[index]
                own = 24 + 17 * len(node.lines) + 26 * len(node.agents)
                length = max(58.0, own + 17 * (1 + len(edge.lines)) + 22)
                parts.append(_line(edge.kind, axis, y + 24, axis, y + length - 24))
                top = y + own + 6
                parts.append(_text(axis + 40, top, edge.name, "edge-name", "start"))
                parts += [
                    _text(axis + 40, top + 17 * (k + 1), t, "edge-line", "start")
                    for k, t in enumerate(edge.lines)
                ]
                y += length
        last = self._nodes[-1]
        height = y + 30 + 17 * len(last.lines) + 26 * len(last.agents)
        return _svg(330, height, parts, "path-narrow")

    @staticmethod
    def _node(node: _Node, x: float, y: float) -> str:
        parts = [_icon(node.icon, x, y), _text(x + 32, y + 5, node.name, "node-name", "start")]
        parts += [_text(x + 32, y + 22 + 17 * k, t, "node-line", "start") for k, t in enumerate(node.lines)]
        below = y + 28 + 17 * len(node.lines)
        for k, agent in enumerate(node.agents):
            parts.append(_badge(x + 32 + (16 + 6.9 * len(agent)) / 2, below + 24 * k, agent))
        return "".join(parts)


def _svg(width: float, height: float, parts: Sequence[str], css: str) -> str:
    return (
        f'<svg class="path {css}" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}"'
        f' height="{height:.0f}" aria-hidden="true" focusable="false">{"".join(parts)}</svg>'
    )
