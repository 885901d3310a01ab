"""Ctrl-C, `kill`, a closed terminal: one line, the exit code of shells, and nothing left behind, whenever they come."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import start, wait_for

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals to send")
NAMES = ["SIGINT", "SIGTERM", "SIGHUP"]

# Runs the command line, with `body` in place of what it would do.
CHILD = """
import atexit, os, signal, sys
from mandelcl import __main__, cli
def kill():
    os.kill(os.getpid(), signal.{name})
def body():
    {body}
{before}
cli.main = body
__main__.main()
"""


def code_of(name: str) -> int:
    """Return the exit code of a process that a signal has stopped."""
    return 128 + int(getattr(signal, name))


def ended(name: str, body: str, before: str = "pass") -> tuple[int, str, str]:
    Path("child.py").write_text(CHILD.format(name=name, body=body, before=before))  # in a folder of the test's own
    done = subprocess.run([sys.executable, "-m", "child"], capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.full
@pytest.mark.usefixtures("usable")
@pytest.mark.parametrize("name", NAMES)
def test_render_ends_without_leftovers(name: str, folder: Path) -> None:
    """Also what stands in for a cache."""
    temporary = folder / "temporary"
    temporary.mkdir()
    settings = {"MANDELCL_CACHE": "off", "TMPDIR": str(temporary)}
    render = ("render", "--size", "2000x2000", "--iterations", "2000000000", "--no-shortcuts", "-o", "a.png")
    process = start(*render, env=os.environ | settings)
    wait_for(folder / "a.png.part" / "lock", process)
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out, err) == (code_of(name), "", "mandelcl: stopped\n")
    assert list(folder.rglob("*")) == [temporary]


def _hook(module: str, then: str = "pass") -> str:
    """Return what sends the signal when a module is about to be imported."""
    return f"""class Finder:
    def find_spec(self, name, *_):
        if name == "{module}":
            kill()
            {then}
sys.meta_path.insert(0, Finder())"""


@pytest.mark.parametrize("name", NAMES)
def test_signal_before_a_command_is_parsed(name: str) -> None:
    """While click reads the first words of the command line."""
    before = "import click\nmain = cli.main\nclick.Group.parse_args = lambda *_: kill()"
    assert ended(name, "main()", before) == (code_of(name), "", "mandelcl: stopped\n")


@pytest.mark.parametrize("name", NAMES)
def test_signal_during_imports(name: str) -> None:
    assert ended(name, "kill()") == (code_of(name), "", "mandelcl: stopped\n")


WEAK = """import time, weakref
    class Watched: pass
    watched = Watched()
    reference = weakref.ref(watched, lambda _: kill())
    del watched
    time.sleep(600)"""


@pytest.mark.parametrize("name", NAMES)
def test_signal_in_a_context_that_ignores_exceptions(name: str) -> None:
    """As in the callback of a weak reference, of which the import of modules has some: it comes a moment later."""
    assert ended(name, WEAK) == (code_of(name), "", "mandelcl: stopped\n")


@pytest.mark.parametrize("name", NAMES)
def test_import_is_not_interrupted(name: str) -> None:
    hook = _hook("json.tool", "print('looked for')")
    assert ended(name, "import time, json.tool; time.sleep(600)", hook) == (
        *(code_of(name), "looked for\n", "mandelcl: stopped\n"),
    )


LOST = """
send = interrupts.signal.pthread_kill
def lose(*_):
    print('lost')
    interrupts.signal.pthread_kill = send
interrupts.signal.pthread_kill = lose"""


@pytest.mark.parametrize("name", NAMES)
def test_signal_just_before_a_call_that_waits_is_sent_again(name: str) -> None:
    """It does not end the call."""
    hook = "from mandelcl.base import interrupts" + LOST + "\n" + _hook("json.tool")
    assert ended(name, "import json.tool, time; time.sleep(600)", hook) == (
        *(code_of(name), "lost\n", "mandelcl: stopped\n"),
    )


MOMENT = """
turn, left = {turn}, [{turn}]
def count(*_):
    left[0] -= 1
    if not left[0]:
        kill()
main = cli.main
sys.argv = ["mandelcl", "render", "--size", "8x8", "-o", "a.png", "--quiet"]
sys.setprofile(count)"""


@pytest.mark.usefixtures("usable")
@pytest.mark.parametrize("case", range(6))
def test_signal_at_random_moments(case: int, folder: Path) -> None:
    """At some call of a function or its end, of 10 to 300 000 that a render makes in the thread that signals go to."""
    turn = int(10 ** random.Random(case).uniform(1, 5.5))
    code, out, err = ended("SIGINT", "main()", MOMENT.format(turn=turn))
    (folder / "child.py").unlink()
    files = [path.name for path in folder.iterdir() if path.name != "__pycache__"]
    assert (code, out) in ((code_of("SIGINT"), ""), (0, "")), f"turn {turn}: {err}"
    assert (err, files) == (("", ["a.png"]) if code == 0 else ("mandelcl: stopped\n", [])), f"turn {turn}"


@pytest.mark.parametrize("name", NAMES)
def test_signal_during_text_evaluation(name: str) -> None:
    """As for a dataclass: Python notes that, and ends by the signal although the exception was caught."""
    assert ended(name, "exec('kill()', {'kill': kill})") == (code_of(name), "", "mandelcl: stopped\n")


SWALLOWED = """try:
        kill()
    except KeyboardInterrupt:
        pass
    from mandelcl.cli.interruptible import interruptible
    print(interruptible(lambda cancel: cancel.wait(50)))"""


@pytest.mark.parametrize("name", NAMES)
def test_swallowed_signal_still_stops_the_work(name: str) -> None:
    """As code of others does while it is imported."""
    assert ended(name, SWALLOWED) == (0, "True\n", "")


TAKEN = """import threading
    class Condition(threading.Condition):
        def __enter__(self):
            taken = super().__enter__()
            if threading.get_ident() == threading.main_thread().ident and not killed:
                killed.append(kill())
            return taken
    killed = []
    threading.Condition = Condition
    from mandelcl.cli.interruptible import interruptible
    print(interruptible(lambda cancel: cancel.wait(50)))"""


@pytest.mark.parametrize("name", NAMES)
def test_signal_while_acquiring_a_lock_stops_the_work(name: str) -> None:
    """Raised there, it would leave the lock taken, and the process would never end."""
    assert ended(name, TAKEN) == (0, "True\n", "")


FAILS = """from mandelcl.cli.interruptible import interruptible
    from mandelcl.base.errors import BuildError, CancelledError, remark
    def work(cancel):
        {before}
        error = BuildError("no kernel")
        remark(error, "3 bands are kept")
        raise error
    try:
        interruptible(work)
    except (BuildError, CancelledError) as error:
        print(type(error).__name__, error)"""


@pytest.mark.parametrize("name", NAMES)
def test_stopped_compiler_is_not_reported_as_error(name: str) -> None:
    """LLVM heeds signals, too. What is kept is told in either case."""
    assert ended(name, FAILS.format(before="kill()")) == (0, "CancelledError stopped; 3 bands are kept\n", "")
    assert ended(name, FAILS.format(before="pass")) == (0, "BuildError no kernel; 3 bands are kept\n", "")


@pytest.mark.parametrize("name", NAMES)
def test_signal_while_loading_the_library_is_deferred(name: str) -> None:
    """Raised while pyopencl makes its types, it would end the process with a traceback."""
    hook = _hook("pyopencl._cl", "open('loaded', 'w').close()")
    assert ended(name, "import mandelcl.opencl.api", hook) == (code_of(name), "", "mandelcl: stopped\n")
    assert Path("loaded").exists()


@pytest.mark.parametrize("name", NAMES)
def test_second_signal_during_exit_is_ignored(name: str) -> None:
    """Also while the module is loaded that ends it."""
    before = "sys.modules.pop('mandelcl.files.leftovers', None)\n" + _hook("mandelcl.files.leftovers")
    assert ended(name, "kill()", before) == (code_of(name), "", "mandelcl: stopped\n")


@pytest.mark.parametrize("name", NAMES)
def test_second_signal_during_the_message_is_ignored(name: str) -> None:
    before = """class Stream:
    def write(self, text):
        kill()
        return os.write(2, text.encode())
    def flush(self):
        pass
sys.stderr = Stream()"""
    assert ended(name, "kill()", before) == (code_of(name), "", "mandelcl: stopped\n")


def test_out_of_memory_is_one_line_and_does_not_hang() -> None:
    """A driver that was refused memory may wait for ever at the end of the process."""
    body = "atexit.register(signal.pause); raise MemoryError('std::bad_alloc')"
    code, out, err = ended("SIGINT", body)
    assert (code, out) == (1, "")
    assert err.startswith("mandelcl: not enough memory")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("name", NAMES)
def test_signal_after_the_work_keeps_the_exit_code(name: str) -> None:
    for body in ("atexit.register(kill)", "atexit.register(kill); sys.exit()"):
        assert ended(name, body) == (0, "", "")
    assert ended(name, "atexit.register(kill); sys.exit(2)") == (2, "", "")
    assert ended(name, "sys.exit(2)", before="atexit.register(kill)") == (2, "", "")  # called last, before drivers end


@pytest.mark.parametrize("name", NAMES)
def test_inherited_ignored_signals_stay_ignored(name: str) -> None:
    ignore = f"signal.signal(signal.{name}, signal.SIG_IGN)"
    assert ended(name, "kill(); print('done')", before=ignore) == (0, "done\n", "")


NOISY = """from mandelcl.cli.interruptible import interruptible
    def work(cancel):
        os.write(2, b"before;")
        kill()
        assert cancel.wait(50)
        os.write(2, b"1 error generated.")
        raise CancelledError("stopped")
    from mandelcl.base.errors import CancelledError
    try:
        interruptible(work)
    except CancelledError:
        print("after", file=sys.stderr)"""


@pytest.mark.parametrize("name", NAMES)
def test_drivers_are_silent_after_a_signal(name: str) -> None:
    """PoCL's compiler prints an error when LLVM, which handles signals as well, removes its files."""
    assert ended(name, NOISY)[2] == "before;after\n"
