"""Films: a path through the plane, keyframes along it, and frames made from the keyframes."""
