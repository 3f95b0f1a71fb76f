"""What the outside sees: names, messages and the pure part of the data converter."""
