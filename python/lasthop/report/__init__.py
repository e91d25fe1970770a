"""The report: one offline HTML file, and figures for papers.

:class:`ReportInput` says what a report needs; :func:`write_report` writes the
page and :func:`write_figure` one vector figure.
"""

from __future__ import annotations

from .figure import KINDS, write_figure
from .load import claims, join_reports, merge_reports, published_rows, report_of_directories, report_of_result
from .model import (
    METRICS,
    CellKey,
    Claim,
    Handover,
    Metric,
    PublishedRow,
    ReportInput,
    Trace,
    TraceLoader,
    Variant,
    traces_from_frames,
)
from .page import render_report, write_report
from .path_model import (
    PathAgent,
    PathDescription,
    PathElement,
    PathHost,
    path_from_scenario,
)

__all__ = [
    "KINDS",
    "METRICS",
    "CellKey",
    "Claim",
    "Handover",
    "Metric",
    "PathAgent",
    "PathDescription",
    "PathElement",
    "PathHost",
    "PublishedRow",
    "ReportInput",
    "Trace",
    "TraceLoader",
    "Variant",
    "claims",
    "join_reports",
    "merge_reports",
    "path_from_scenario",
    "published_rows",
    "render_report",
    "report_of_directories",
    "report_of_result",
    "traces_from_frames",
    "write_figure",
    "write_report",
]
