"""The operations from which tests draw random formulas: every operation of the package, at least once."""

OPERATION_TEXTS = ("sqr", "mul", "store", "absx", "absy", "negx", "negy", "add", "rot:30", "rot:3/5,-4/5")
