"""Why Karmada does not get its answers: everything between a registration and the server, looked at as Karmada does.

Each module judges one thing from what was read and does no I/O, except `tls_client`, which opens connections,
`control_plane`, which reads objects, and the two that put checks in order, `endpoint` and `runner`.
"""

from karta_interpreter.doctor.address import check_url
from karta_interpreter.doctor.result import Level, Result
from karta_interpreter.doctor.runner import examine

__all__ = ["Level", "Result", "check_url", "examine"]
