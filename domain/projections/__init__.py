"""The folds of the journal, joined: from events to rows."""
