"""The journal's own laws: envelope, canonical bytes, chain, catalogue."""
