"""Reading and writing the files that users name: one module per format, tempfiles, and paths."""
