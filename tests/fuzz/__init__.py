"""The fuzz suite: mutated files, drawn values, odd surroundings, and what mandelcl must make of each.

A case is one input. It is drawn from a random generator that the seed, the category and the case's number seed, so each
can be repeated alone. `oracle` says what holds for every one; a category checks what is true of its own kind, above all
that what was accepted gives the right answer. `python -m tests.fuzz`, or `scripts/fuzz`, runs them.
"""
