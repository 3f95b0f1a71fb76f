"""The faces outward: names, ids, inputs, messages and errors that a caller may depend on.

Changed only by addition, and imports nothing but itself and pydantic.
"""
