"""What people and programs look at, apart from the webhook: the console, and the workload types API."""
