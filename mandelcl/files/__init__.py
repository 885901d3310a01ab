"""Files that users name, written and read: a module for each format, drafts, and paths."""
