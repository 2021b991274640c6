"""The definitions of kinds: Kartas, the sources that they come from, and the CRDs that they are checked against."""
