"""The `temporality` command."""
