"""What a computation is about: the job, its planes, the field that comes of it, and the report."""
