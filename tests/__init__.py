"""Tests: the rule of a module is tested in the folder of the same name."""
