"""Human decisions with absolute deadlines."""
