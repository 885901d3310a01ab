"""Rendering: from a job to a field in memory or to files."""
