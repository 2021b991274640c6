"""Answers to calls: from the bytes of a body to the bytes of its answer, without HTTP.

`calls` answers in one of three lanes (`lanes`): in the event loop, in a child process, or by a script. Here belong the
limits of this work (`load`) and the observers, which see each call with its answer: log, fights, recorder.
"""
