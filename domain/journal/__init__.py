"""The event, its catalogue, its canonical bytes and its chain."""
