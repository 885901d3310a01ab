"""Kernels on a device: assembled, built, shaped, launched, tested."""
