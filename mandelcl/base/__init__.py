"""Below everything else: exact numbers, the lattice, text, errors, signals, memory and cores of the host."""
