"""Colouring: from planes to pixels."""
