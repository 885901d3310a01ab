"""The times of one clock on another, as known from what must come before what."""


class ClockOffset:
    """What is to be added to the times of one clock to have those of another, which may run a little faster.

    Each exchange bounds it: an answer is not given before it is asked for, and not received before it is given. The
    offset is the middle of the first exchange's bounds, unless a value is given, and moves only as far as later ones
    require. So no event is placed before its cause, and two clocks that agree are left as they are.
    """

    def __init__(self, value: int | None = None) -> None:
        self._value = value

    @property
    def value(self) -> int:
        """The offset; 0 where nothing is known."""
        return self._value or 0

    def bound(self, least: int, most: int) -> None:
        """Take note of what the offset must be at least and at most."""
        self._value = (least + most) // 2 if self._value is None else min(max(self._value, least), most)
