"""Counts that are proved true: what a first computation cannot vouch for is done again, more and more finely."""
