"""Host policies: which pixels, in which order, for how long."""
