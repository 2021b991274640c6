"""Certificates and who signs them: reading PEM, judging whether a pair can be served, signing.

All but `authority` do with Python's `ssl`: the library that signs takes 10 MB of memory, and a server rarely needs it.
"""
