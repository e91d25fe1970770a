"""Scenarios: a file, overrides, and the variants they expand into."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from lasthop import _core
from lasthop.errors import LasthopError

Value: TypeAlias = bool | int | float | str
"""One value of a parameter; strings carry units, as ``"250 ms"``."""


@dataclass(frozen=True)
class Variant:
    """One named combination of parameter values.

    Attributes:
        name: Its name, unique within the scenario.
        parameters: Every parameter with its value as spelt.
    """

    name: str
    parameters: dict[str, str]


def _spell(value: Value) -> str:
    """Writes a value as the command line would.

    >>> _spell(True), _spell(0.01), _spell("20 ms")
    ('true', '0.01', '20 ms')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def spell_setting(name: str, value: Value | Iterable[Value]) -> str:
    """Writes ``name=value``, lists separated by commas.

    >>> spell_setting("sender", ["reno", "sack"])
    'sender=reno,sack'
    """
    if isinstance(value, (bool, int, float, str)):
        return f"{name}={_spell(value)}"
    return f"{name}={','.join(_spell(entry) for entry in value)}"


def seed_list(seeds: int | Sequence[int] | None) -> list[int] | None:
    """Expands a count of seeds into the seeds 1 to n.

    >>> seed_list(3), seed_list([7, 9]), seed_list(None)
    ([1, 2, 3], [7, 9], None)
    """
    if seeds is None:
        return None
    chosen = list(range(1, seeds + 1)) if isinstance(seeds, int) else list(seeds)
    if not chosen:
        raise LasthopError("seeds: at least 1 is needed")
    if any(not 0 <= seed < 2**64 for seed in chosen):
        raise LasthopError("seeds: each must be between 0 and 2^64 - 1")
    if len(set(chosen)) != len(chosen):
        raise LasthopError("seeds: each may be given once")
    return chosen


@dataclass(frozen=True)
class Scenario:
    """A scenario file with overrides, checked and expanded.

    Scenarios never change; `set` and `with_seeds` return new ones.

    >>> dumbbell = Scenario.from_file("scenarios/examples/dumbbell.toml")
    >>> compared = dumbbell.set(sender=["reno", "newreno"], loss=0.01)
    >>> [variant.name for variant in compared.variants]
    ['sender=reno', 'sender=newreno']

    Attributes:
        text: The scenario as TOML.
        file: Where it came from, named in error messages.
        overrides: Settings in the form ``name=value``, the last one wins.
    """

    text: str
    file: str = "scenario.toml"
    overrides: tuple[str, ...] = ()
    _seeds: tuple[int, ...] | None = field(default=None, repr=False)

    @classmethod
    def from_file(cls, path: str | Path) -> Scenario:
        """Reads a scenario file.

        Raises:
            LasthopError: When the file cannot be read.
            ScenarioError: When it is not a valid scenario.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise LasthopError(f"{path}: no such file") from None
        except (OSError, UnicodeDecodeError) as error:
            raise LasthopError(f"{path}: cannot be read: {error}") from None
        return cls.from_text(text, str(path))

    @classmethod
    def from_text(cls, text: str, file: str = "scenario.toml") -> Scenario:
        """Takes a scenario from a string, and checks it.

        Raises:
            ScenarioError: When it is not a valid scenario.
        """
        return cls(text, file)._checked()

    def set(self, **settings: Value | Iterable[Value]) -> Scenario:
        """Overrides parameters.

        A list for a parameter that takes one value makes a variant of each.
        """
        return self.override(*(spell_setting(name, value) for name, value in settings.items()))

    def override(self, *settings: str) -> Scenario:
        """Overrides parameters by settings spelt ``name=value``, as ``--set`` does."""
        return replace(self, overrides=(*self.overrides, *settings))._checked()

    def with_seeds(self, seeds: int | Sequence[int] | None) -> Scenario:
        """Chooses the seeds: a count (1 to n), a list, or None for the scenario's own."""
        chosen = seed_list(seeds)
        return replace(self, _seeds=None if chosen is None else tuple(chosen))

    @cached_property
    def plan(self) -> _core.Plan:
        """The scenario as the engines take it."""
        return _core.Plan.load(self.text, self.file, list(self.overrides), self._seeds)

    @property
    def name(self) -> str:
        """Its short name."""
        return self.plan.name

    @property
    def title(self) -> str:
        """One line for people."""
        return self.plan.title

    @property
    def seeds(self) -> list[int]:
        """The seeds each variant runs with."""
        return self.plan.seeds

    @cached_property
    def variants(self) -> list[Variant]:
        """The variants, in the order they are listed."""
        return [Variant(name, parameters) for name, parameters in self.plan.variants]

    def _checked(self) -> Scenario:
        _ = self.plan
        return self


def schema() -> str:
    """The JSON Schema of scenario files, as text.

    >>> import json
    >>> json.loads(schema())["type"]
    'object'
    """
    return _core.schema()


@dataclass(frozen=True)
class MechanismParameter:
    """Something a mechanism can be told.

    Attributes:
        name: The key.
        default: Its value when nothing is said, as written in a scenario.
        unit: The unit, or the kind of value.
        help: What it means.
    """

    name: str
    default: str
    unit: str
    help: str


@dataclass(frozen=True)
class Mechanism:
    """Something a scenario can name.

    Attributes:
        name: The name scenarios use.
        kind: What it is: sender, personality, agent, path element and so on.
        summary: What it does, in one line.
        source: Who published it; empty where it is lasthop's own.
        place: Where it goes in a scenario.
        parameters: What can be set.
        engines: The engines that play it.
    """

    name: str
    kind: str
    summary: str
    source: str
    place: str
    parameters: tuple[MechanismParameter, ...]
    engines: tuple[str, ...]


def _mechanism(entry: dict[str, Any]) -> Mechanism:
    parameters = tuple(MechanismParameter(**parameter) for parameter in entry.pop("parameters"))
    return Mechanism(**{**entry, "parameters": parameters, "engines": tuple(entry["engines"])})


def catalog() -> list[Mechanism]:
    """Everything a scenario can name.

    >>> senders = [entry.name for entry in catalog() if entry.kind == "sender"]
    >>> "newreno" in senders
    True
    """
    return [_mechanism(entry) for entry in json.loads(_core.catalog())]
