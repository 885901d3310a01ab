"""A job in, fields or files out."""
