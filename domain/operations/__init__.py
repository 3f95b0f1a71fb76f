"""What operators and the system itself do to the installation: commands, imports, flags."""
