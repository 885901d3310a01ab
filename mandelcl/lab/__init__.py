"""Examinations of devices and kernels: soak tests, and kernels that you write."""
