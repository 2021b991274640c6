"""Reads a definition when it is imported: programs that are forked after that have the models of the schema."""

from karta_interpreter.definitions.karta import catalogue_files
from karta_interpreter.definitions.karta.loading import load_documents

load_documents(catalogue_files()[0].read_text(encoding="utf-8"), "first")
