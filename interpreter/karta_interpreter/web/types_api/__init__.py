"""The workload types API: registers types of workloads over HTTP, and stores them as Kartas.

A workload type is a kind of an API group, with a Karta for each of its versions, a category and a priority. `api` joins
the parts and serves them. Requests and answers are in `models`, storage is in `folder_storage` and `cluster_storage`.
Child processes read `bodies`, so this module imports nothing that they do not need.
"""
