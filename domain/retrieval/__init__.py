"""One boundary for every read by content: scope, then state, then rank."""
