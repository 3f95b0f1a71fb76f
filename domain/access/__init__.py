"""Who may see and do what: principals, scopes and grants."""
