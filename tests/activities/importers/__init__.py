"""Readers and assembly, against made files, counts taken elsewhere, and broken input."""
