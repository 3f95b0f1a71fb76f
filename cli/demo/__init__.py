"""`temporality demo`: the whole way on transcripts, on servers of its own, told from what the journal says."""
