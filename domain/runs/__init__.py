"""What an agent did: trajectories, frames, operations and the commands they ran."""
