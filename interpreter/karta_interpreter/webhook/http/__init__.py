"""Connections of clients: the port, TLS and its certificates, the heads and bodies of requests.

Here belongs what the server knows about HTTP, and the limits of connections. What an answer says is not known here.
Only this package, `karta_interpreter.webhook.process` and `karta_interpreter.web` import aiohttp.
"""
