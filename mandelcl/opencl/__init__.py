"""OpenCL on this machine: runtimes made visible, devices found and asked, known faults of drivers."""
