"""The webhook's process: a server put together from its parts, started and stopped, with its health and metrics.

`server` builds the parts that settings ask for. `application` joins `karta_interpreter.webhook.http`, which brings the
requests, with `karta_interpreter.webhook.answering`, which gives the answers. `signals` runs a server until it is told
to stop.
"""
