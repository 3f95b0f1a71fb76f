<<<<<<< HEAD
"""What an agent did: trajectories, frames, operations and the commands they ran."""
=======
"""What a run is made of: trajectory, frames, operations and the commands they ran."""
>>>>>>> house
