"""What stands on nothing: exact numbers, the lattice, text, processes of the system, errors."""
