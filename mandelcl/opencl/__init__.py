"""OpenCL on this machine: runtimes made visible, devices discovered and used, known faults of drivers."""
