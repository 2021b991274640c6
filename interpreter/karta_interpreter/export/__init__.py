"""A Karta as something else: health checks of GitOps tools."""
