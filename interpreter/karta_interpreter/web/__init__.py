"""What people and programs look at, next to the webhook: the console, and the workload types API."""
