"""What readers of palettes share."""

from collections.abc import Sequence

UNITS = 0.22  # of (8 + count)^(1/4) that a colour of a smooth palette gets


def hexadecimal(red: int, green: int, blue: int) -> str:
    """Return a colour as a `Palette` takes it; raises ValueError for parts that are not from 0 to 255."""
    if not (0 <= red <= 255 and 0 <= green <= 255 and 0 <= blue <= 255):
        raise ValueError(f"a colour with parts {red}, {green} and {blue}, which go from 0 to 255")
    return f"#{red:02x}{green:02x}{blue:02x}"


def turn_of(colours: Sequence[str]) -> float:
    """Return how long a turn through so many colours should be."""
    return max(1.2, UNITS * len(colours))
