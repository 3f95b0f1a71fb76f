<<<<<<< HEAD
"""One boundary for reading knowledge: scope, state, then terms."""
=======
"""One boundary for every read by content: scope, then state, then rank."""
>>>>>>> house
