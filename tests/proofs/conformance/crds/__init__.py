"""Aggregated statuses are valid for the CRDs of their kinds, as API servers validate updates of a status."""
