"""What is written for users and read again: a module a format, drafts, paths."""
