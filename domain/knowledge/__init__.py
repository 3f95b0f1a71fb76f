"""Knowledge nodes and every transition their states allow."""
