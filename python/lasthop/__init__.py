"""TCP over the last, wireless hop: scenarios, runs and results.

>>> import lasthop
>>> scenario = lasthop.Scenario.from_file("scenarios/examples/dumbbell.toml")
>>> result = lasthop.run(scenario.set(duration="5 s"), seeds=1)
>>> result.flows.select("flow", "timeouts").rows()
[(0, 0)]
"""

from __future__ import annotations

from lasthop._core import version as __version__
from lasthop.engine import run
from lasthop.errors import EngineError, LasthopError, ScenarioError, StoreError
from lasthop.metrics import METRICS, Metric
from lasthop.result import Result
from lasthop.scenario import Mechanism, Scenario, Variant, catalog, schema
from lasthop.stats import Comparison, Estimate, compare, estimate

__all__ = [
    "METRICS",
    "Comparison",
    "EngineError",
    "Estimate",
    "LasthopError",
    "Mechanism",
    "Metric",
    "Result",
    "Scenario",
    "ScenarioError",
    "StoreError",
    "Variant",
    "__version__",
    "catalog",
    "compare",
    "estimate",
    "run",
    "schema",
]
