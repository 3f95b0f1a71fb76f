"""The embedded servers of one machine: Postgres, the Temporal dev server and the worker beside them.

Nothing here knows a rule of the domain, and nothing here reads the environment: values come in as arguments.
"""
