"""What several tests need: servers, clients, builders of input."""
