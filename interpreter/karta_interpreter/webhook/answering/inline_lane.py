"""The inline lane: the event loop gives the answer. It answers no other call meanwhile."""

from math import inf

from karta_interpreter.engine.operations import Options, interpret, with_domains
from karta_interpreter.engine.operations.dispatch import own_answer
from karta_interpreter.webhook.answering.load import BEGUN, Interruption
from karta_interpreter.webhook.answering.pending_call import PendingCall
from karta_interpreter.webhook.wire import encode_results


class InlineLane:
    """Answers immediately. While ``interruption`` runs, it gives up an answer that takes long."""

    def __init__(self, options: Options, interruption: Interruption) -> None:
        self._options = options
        self._interruption = interruption

    def answer(self, call: PendingCall) -> bytes:
        """Return the answer to a call. Raises InterpretationError, and InterruptedWork if it takes too long."""
        try:
            # Not from the time of the call: finding out which fields a new question reads takes as long, once, in any
            # process.
            self._interruption.at = BEGUN
            request = call.request
            if call.is_projected and call.definition and request.call:
                results = with_domains(own_answer(call.definition, request.call, self._options), call.reader)
            else:
                results = interpret(*call.definition_and_call(), self._options, reader=call.reader)
            return encode_results(request, results)
        finally:
            self._interruption.at = inf
