"""Every figure against a floor measured in the same job: absolute figures drift, ratios hold."""
