"""From a finished trajectory to admitted candidates."""
