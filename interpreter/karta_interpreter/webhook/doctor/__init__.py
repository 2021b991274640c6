"""Finds out why Karmada does not get its answers, by checks of all from the registration to the server.

Each module checks one thing in the data that was read, without I/O. There are three exceptions: `connection` opens
connections, and `endpoint` and `runner` run the checks in order.
"""
