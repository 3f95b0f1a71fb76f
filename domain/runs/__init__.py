"""What a run is made of: trajectory, frames, operations and the commands that ran in it."""
