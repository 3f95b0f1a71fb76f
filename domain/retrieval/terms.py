def terms(t): return tuple(t.lower().split())
