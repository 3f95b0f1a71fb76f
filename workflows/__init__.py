"""Deterministic workflows, one class per file.

They import domain and temporalio only; every effect is asked of an activity through `workflows.calls`.
"""
