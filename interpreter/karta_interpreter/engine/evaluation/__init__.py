"""What a definition makes of an object: its pod sets, counts, pod templates and status."""
