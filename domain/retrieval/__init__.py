"""One boundary for reading knowledge: scope, state, then terms."""
