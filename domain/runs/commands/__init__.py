"""Which shell commands verify or build something, and whether an exit code speaks for them."""
