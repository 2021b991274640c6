"""The workload types API: registers types of workloads over HTTP, and stores them as Kartas.

A workload type is a kind of an API group, with a Karta for each of its versions, a category and a priority. `api` joins
the parts; requests and answers are in `models`, storage is in `folder_storage` and `cluster_storage`.
"""

from karta_interpreter.console.workload_types.api import serve_types

__all__ = ["serve_types"]
