"""The embedded Postgres and Temporal servers: start, stop, doctor."""
