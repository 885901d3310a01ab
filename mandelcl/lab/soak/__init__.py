"""Soak tests: devices repeat known jobs for a long time. Every word is compared, and the speed is watched."""
