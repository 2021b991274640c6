"""Model servers and the logs of pods, as the NIM operator asks for them."""

import json
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

from tests.support.serving import answer, start

_MANIFEST = """
1-gpu:
  model: meta/llama-3.2-1b-instruct
  release: "1.12.0"
  tags: {llm_engine: tensorrt_llm, precision: bf16, tp: "1"}
2-gpus:
  model: meta/llama-3.2-1b-instruct
  release: "1.12.0"
  tags: {llm_engine: tensorrt_llm, precision: bf16, tp: "2"}
"""
_MODELS = {"object": "list", "data": [{"id": "meta/llama-3.2-1b-instruct", "object": "model"}]}


def start_models() -> int:
    """Listen in a thread that ends with the program; return the port."""
    return start(_Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer with the manifest of an image for the log of a pod, and with the models of a server."""
        is_log = urlsplit(self.path).path.endswith("/log")
        answer(self, _MANIFEST.encode() if is_log else json.dumps(_MODELS).encode())
