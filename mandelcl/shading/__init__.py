"""From planes to colours."""
