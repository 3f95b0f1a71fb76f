"""Everything the system does in Postgres: pool, journal, rebuild, verify and the read queries."""
