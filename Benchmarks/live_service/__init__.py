"""The live service seen from outside: `upright serve` with real publishers on loopback."""
