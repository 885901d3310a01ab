"""Worker processes: messages, shared memory, and both ends of the pipe.

`process` is a worker as its parent sees it, `channel` the parent as a worker sees it, `roles` what a worker may be.
"""
