"""Processes for work that nothing inside a process can stop, and the time that work may still take."""
