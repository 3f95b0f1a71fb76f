<<<<<<< HEAD
"""Human decisions with absolute deadlines."""
=======
"""The decision a person owes, its deadline, and what applying it means."""
>>>>>>> house
