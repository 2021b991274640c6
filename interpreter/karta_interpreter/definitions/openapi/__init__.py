"""The OpenAPI schema of a CustomResourceDefinition: checks a definition by it, and drafts one."""
