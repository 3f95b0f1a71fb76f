"""The artifact stores a client and a worker share, behind `domain.ports.artifact_store`.

They live in the client's room because the data converter puts bodies away before a payload leaves the caller.
"""
