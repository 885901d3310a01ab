"""Films: their way, keyframes, frames and files."""
