"""Several devices on one picture: a worker each, in a process of its own, and none of them trusted."""
