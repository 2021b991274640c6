"""The webhook: a process that answers Karmada, its registration, and checks that find out why it is not asked."""
