"""What a computation is about, and what comes of it: job, planes, field, report."""
