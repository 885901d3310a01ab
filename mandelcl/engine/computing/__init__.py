"""A job in progress on one device."""
