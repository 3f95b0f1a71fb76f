<<<<<<< HEAD
"""Scopes and principals: who may see and who may decide."""
=======
"""Who may see and do what: principals, scopes and grants."""
>>>>>>> house
