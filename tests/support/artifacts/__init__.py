"""Artifact stores for tests: the fake, and the table the Postgres store needs on a scratch database."""
