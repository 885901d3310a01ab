"""Crews: several devices on one picture, each in its own process, and none of them trusted."""
