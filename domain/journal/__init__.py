<<<<<<< HEAD
"""The journal's own laws: envelope, canonical bytes, chain, catalogue."""
=======
"""The event, its catalogue, its canonical bytes and its chain."""
>>>>>>> house
