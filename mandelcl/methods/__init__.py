"""How an orbit is computed, a module a method."""
