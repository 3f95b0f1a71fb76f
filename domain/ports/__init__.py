"""The faces downward: what a workflow may ask of the world, as typed references."""
