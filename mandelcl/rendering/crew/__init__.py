"""Several devices on one picture, each in a process of its own, and none of them trusted."""
