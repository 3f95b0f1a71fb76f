"""Every effect: databases, files, models, sandboxes.

Each activity implements a reference declared in `domain.ports`; workflows are never imported here.
"""
