"""What Kubernetes itself defines: types of objects, quantities, pod templates, JSON Patch, manifests.

Nothing in here knows of Karta or of Karmada's protocol. Values are plain JSON, and no function changes a value that it
is given.
"""
