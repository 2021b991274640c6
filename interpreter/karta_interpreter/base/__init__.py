"""Ground that every other door stands on: errors, findings, Kubernetes' own types, child processes."""
