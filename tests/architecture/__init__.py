"""The style and the boundaries of the project, as tests that fail."""
