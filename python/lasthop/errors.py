"""What can go wrong, as exceptions whose text is meant for people."""

from __future__ import annotations

from lasthop._core import ScenarioError

__all__ = ["EngineError", "LasthopError", "ScenarioError", "StoreError"]


class LasthopError(Exception):
    """Something the user can put right; the text says what and how."""


class StoreError(LasthopError):
    """A result directory that cannot be read, or holds something else."""


class EngineError(LasthopError):
    """An engine that this build or this machine does not have."""
