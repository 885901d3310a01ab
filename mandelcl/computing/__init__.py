"""A job under way on one device."""
