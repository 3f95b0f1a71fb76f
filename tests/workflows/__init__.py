"""Tests of the workflows."""
