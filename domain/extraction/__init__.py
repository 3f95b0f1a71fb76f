"""From a closed run to candidates, and from candidates to what is admitted."""
