from tests.support.toys import brew, compiled, harbor, orchestra, toys

__all__ = ["brew", "compiled", "harbor", "orchestra", "toys"]
