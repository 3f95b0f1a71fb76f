"""What serves a capability class: built-in deterministic providers now, models behind the same routing table later."""
