"""Knowledge nodes: identity, events, decisions and their folds."""
