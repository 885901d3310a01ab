"""Functions shared by the readers of palettes."""

from collections.abc import Sequence

UNITS = 0.22  # of (8 + count)^(1/4) per colour of a smooth palette


def hexadecimal(red: int, green: int, blue: int) -> str:
    """Return a colour in the notation of a `Palette`. Raises ValueError for parts outside 0 … 255."""
    if not (0 <= red <= 255 and 0 <= green <= 255 and 0 <= blue <= 255):
        raise ValueError(f"the parts of a colour must be from 0 to 255, not {red}, {green} and {blue}")
    return f"#{red:02x}{green:02x}{blue:02x}"


def cycle_of(colours: Sequence[str]) -> float:
    """Return the length of a cycle for this number of colours."""
    return max(1.2, UNITS * len(colours))
