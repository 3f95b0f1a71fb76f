"""From a query to a bounded, explained set of items."""
