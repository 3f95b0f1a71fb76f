"""The folds that turn a journal into the tables people read."""
