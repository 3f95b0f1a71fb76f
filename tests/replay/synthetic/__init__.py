"""Small workflows with which the replay and fingerprint gates test themselves."""
