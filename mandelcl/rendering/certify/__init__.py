"""Certified counts: counts that cannot be proved are recomputed with increasing precision until they can."""
