"""Reads member clusters, Karmadas and saved folders: workloads with their pods, bindings, and who interprets them.

It only reads, and never Secrets. `karta_interpreter.engine` judges what was read.
"""
