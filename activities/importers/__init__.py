"""Transcripts of runs driven elsewhere: one reader per format, and the assembly of what they say into events.

Nothing here touches the journal: readers read a stream, the assembly is a pure transformation of what they say.
"""
