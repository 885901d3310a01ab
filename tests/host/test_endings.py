"""How processes end, in words."""

import subprocess
import sys

import pytest

from mandelcl.base.processes import ending


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "exit code 0"),
        (3, "exit code 3"),
        (255, "exit code 255"),
        (-6, "killed by SIGABRT"),
        (-11, "killed by SIGSEGV"),
        (-77, "killed by signal 77"),
        (3221225477, "exit code 0xC0000005, an access violation"),
        (0xC000013A, "exit code 0xC000013A, Ctrl-C"),
        (0xC0000409, "exit code 0xC0000409, an abort or a stack buffer overrun"),
        (0xC0001234, "exit code 0xC0001234"),
    ],
)
def test_exit_code_is_described(code: int, words: str) -> None:
    if code < 0 and sys.platform == "win32":
        pytest.skip("Windows has no such signals")
    assert ending(code) == words


def test_a_process_that_crashes() -> None:
    windows = sys.platform == "win32"
    crash = "import os; os._exit(0xC0000005 - (1 << 32))" if windows else "import os; os.kill(os.getpid(), 11)"
    done = subprocess.run([sys.executable, "-c", crash], timeout=600)
    assert ending(done.returncode) == ("exit code 0xC0000005, an access violation" if windows else "killed by SIGSEGV")
