"""One module per transcript format; each knows its format and nothing else."""
