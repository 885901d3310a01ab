"""Derivatives on the host, to the last bit those of the kernels: what devices are compared with."""
