"""Films: a path through the plane, keyframes along it, and the frames made of these."""
