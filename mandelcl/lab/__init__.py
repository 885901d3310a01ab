"""Examinations of devices and kernels: soak tests, and kernels of the user's own."""
