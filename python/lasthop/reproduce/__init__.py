"""Published tables beside ours: runs, verdicts, claims.

>>> from lasthop.reproduce import SOURCES
>>> [source.name for source in SOURCES]
['ciminieri', 'arcia-moret']
"""

from __future__ import annotations

from lasthop.reproduce import arcia_moret, ciminieri
from lasthop.reproduce.lab import SEEDS, Lab, project_root
from lasthop.reproduce.model import Outcome, Row, Source
from lasthop.reproduce.perform import Selection, perform, select

SOURCES: tuple[Source, ...] = (ciminieri.SOURCE, arcia_moret.SOURCE)
"""Every source, in the order in which they are run."""

__all__ = [
    "SEEDS",
    "SOURCES",
    "Lab",
    "Outcome",
    "Row",
    "Selection",
    "Source",
    "perform",
    "project_root",
    "select",
]
