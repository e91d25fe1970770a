"""Tests of the report and the figures."""
