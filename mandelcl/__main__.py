"""The process of a command line: `mandelcl`, or `python -m mandelcl`."""

import gc
import sys

from mandelcl.base import interrupts

# By default Python looks for garbage a hundred times while modules are loaded, a tenth of the time that this takes.
# They make 50 000 to 60 000 objects.
_GARBAGE = 100_000, 20, 20


def main() -> None:
    """Run the command line and end the process with its exit code; signals are answered from here on."""
    code: str | int | None = 0
    try:
        interrupts.answer()
        gc.set_threshold(*_GARBAGE)
        from mandelcl import cli

        cli.main()
    except SystemExit as end:
        code = end.code
    except KeyboardInterrupt:  # beside the work of a command: while modules were imported
        interrupts.ignore()  # a second one would end in a traceback here
        print("mandelcl: stopped", file=sys.stderr)
        code = interrupts.exit_code()
    except MemoryError:  # a driver that fails so may not come back from an orderly end
        print(
            "mandelcl: not enough memory for the drivers; close other programs, or raise `ulimit -v`", file=sys.stderr
        )
        _leave(1)
    interrupts.answer_with(lambda: _leave(code))
    if interrupts.have_come():  # Python might end by the signal all the same, if it came while a text was evaluated
        _leave(code)
    gc.freeze()  # while it ends, Python would look for garbage several times, for longer than --help takes
    sys.exit(code)  # Python tidies up, and drivers do


def _leave(code: str | int | None) -> None:
    """End the process at once: its work is done."""
    interrupts.ignore()  # another would be answered in the middle of what is imported here
    from contextlib import suppress

    from mandelcl.files.leftovers import end_process

    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError):
            stream.flush()
    end_process(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    main()
