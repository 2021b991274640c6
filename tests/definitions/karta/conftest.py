from tests.support.toys import brew, compiled, findings_of, harbor, orchestra, texts, toys

__all__ = ["brew", "compiled", "findings_of", "harbor", "orchestra", "texts", "toys"]
