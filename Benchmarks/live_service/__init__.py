"""The live service measured from outside: `upright serve` with real publishers on loopback."""
