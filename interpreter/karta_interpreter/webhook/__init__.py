"""The webhook: one process that answers Karmada, what registers it there, and what finds out why it is not asked."""
