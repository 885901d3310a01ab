"""Worker processes: messages, shared memory, and both ends of the pipe.

`process` is the parent's end, `channel` the worker's end, and `roles` the list of what workers do.
"""
