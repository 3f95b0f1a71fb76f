"""The decision a person owes, its deadline, and what applying it means."""
