<<<<<<< HEAD
"""The folds of the journal, joined: from events to rows."""
=======
"""The folds that turn a journal into the tables people read."""
>>>>>>> house
