"""A kernel of the user's own: run in a process of its own, compared in every pixel, its faults explained, and timed.

`contract` is what such a kernel is given and must do (docs/studies/your-kernel.md). `worker` runs it, `trial` is its
parent's side, `faults` explains what went wrong with it. `oracle` has the counts that are right, `diagnosis` finds out
which mistake gives the counts that are not: each mistake in `mistakes_*` predicts a whole picture. `study` makes rows.
"""
