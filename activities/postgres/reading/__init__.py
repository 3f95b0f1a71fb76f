"""Reading: every question about knowledge and runs that is answered from Postgres."""
