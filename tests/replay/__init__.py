"""History is frozen: fingerprints of the workflows, and recorded histories that must replay."""
