"""What a platform installs to hand in its runs and to decide approvals."""
