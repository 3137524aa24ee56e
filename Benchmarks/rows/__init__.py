"""The rows of the table that `bench.py` prints: one file for each kind of measurement."""
