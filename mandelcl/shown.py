"""What shows itself in notebooks."""


class Shown:
    """Shows itself as a picture where there is one; otherwise its repr is all there is to see."""

    __slots__ = ()

    def _repr_png_(self) -> bytes | None:
        # What colours and draws lies above what is shown, which knows none of it: this is the one way up.
        from mandelcl.notebook.display import png

        return png(self)
