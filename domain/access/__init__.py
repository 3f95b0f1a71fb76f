"""Scopes and principals: who may see and who may decide."""
