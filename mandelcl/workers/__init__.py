"""Processes that work for this one: their messages, their shared memory, and both sides of the pipe between them.

`process` is a worker as its parent sees it, `channel` the parent as a worker sees it, `roles` what a worker may be.
"""
