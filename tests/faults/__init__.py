"""Kills in named phases, and proof that they changed nothing."""
