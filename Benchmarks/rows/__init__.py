"""The rows of the table that `bench.py` prints: one file a kind of measurement."""
