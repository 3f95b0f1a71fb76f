"""From a trajectory to candidates: compact context, candidates, admission."""
