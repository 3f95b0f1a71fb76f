<<<<<<< HEAD
"""From a trajectory to candidates: compact context, candidates, admission."""
=======
"""From a closed run to candidates, and from candidates to what is admitted."""
>>>>>>> house
