"""Running all other expressions under limits: libjq in worker processes that can be stopped.

The only package that knows ``jq``, and only `child`, the program of a worker, imports it.
"""
