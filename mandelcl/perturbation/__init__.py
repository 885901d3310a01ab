"""Orbits as differences from one reference orbit: the reference, its table of long steps, and exact checks of both."""
