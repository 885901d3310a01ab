"""What every test shares: a cache of its own, and device tests spread over every device × number × rounding.

A test that takes `device` is parametrised over the devices, one that takes `target` over device × number × rounding.
A test runs in so many combinations of its parameters that each value occurs, but on one device; with `--full` on each,
or, if it takes seconds, on one of each type.
The summary names each implementation with the tests that ran on it; `--implementations N` makes fewer than N a failure.
"""

import gc
import os
import signal
import tempfile
from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import levels

# Before anything imports mandelcl's devices, which write there; child processes inherit it, and so do xdist's workers.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _CACHE = tempfile.TemporaryDirectory(prefix="mandelcl-tests-", ignore_cleanup_errors=True)
    os.environ["MANDELCL_CACHE"] = _CACHE.name

# A shell has what it starts in the background ignore Ctrl-C, and so would every process that a test starts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A loaded machine must pass: no example has a deadline, and drawing may be slow.
settings.register_profile("mandelcl", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mandelcl")

_IMPLEMENTATIONS = pytest.StashKey[int]()
_EXERCISED = pytest.StashKey[Counter[str]]()
_PROPERTY = "implementation"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run quick tests on each device, and those that take seconds")
    parser.addoption("--long", action="store_true", help="run every combination, and tests that take minutes")
    parser.addoption(
        "--part",
        type=_part,
        default=(1, 1),
        metavar="K/N",
        help="of the tests that take seconds, run the K-th of N parts",
    )
    parser.addoption(
        "--implementations",
        type=int,
        default=int(os.environ.get("MANDELCL_TEST_IMPLEMENTATIONS") or 0),
        metavar="N",
        help="fail unless tests ran on N OpenCL implementations (also MANDELCL_TEST_IMPLEMENTATIONS=N)",
    )


def _part(text: str) -> tuple[int, int]:
    number, _, parts = text.partition("/")
    if not (number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts)):
        raise ArgumentTypeError(f"{text!r} is not K/N with 1 ≤ K ≤ N")
    return int(number), int(parts)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_IMPLEMENTATIONS] = config.getoption("--implementations")
    config.stash[_EXERCISED] = Counter()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Leave the tests out of the search for garbage: among thousands of them it takes a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Spread a test over the devices. Without any, it runs once and fails: see `pytest_runtest_setup`."""
    for name in {"device", "target"} & set(metafunc.fixturenames):
        from tests.device import targets  # lazily: it asks the loader for devices, which host tests do not need

        every = targets.devices() if name == "device" else targets.targets()
        metafunc.parametrize(name, every or [pytest.param(None, id="no-device")])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of higher levels than the command line asks for."""
    items[:], left = levels.split(items, *levels.asked(config), _first_device)
    items[:], others = levels.in_part(items, *config.getoption("--part"))
    left += others
    if left:
        config.hook.pytest_deselected(items=left)


def _first_device() -> str:
    from tests.device import targets

    return targets.first().spec


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    callspec = getattr(item, "callspec", None)
    for name in ("device", "target"):
        if callspec is not None and name in callspec.params:
            given = callspec.params[name]
            if given is None:
                pytest.fail("no OpenCL device found; `mandelcl devices` lists what was tried", pytrace=False)
            device = given.device if name == "target" else given
            item.user_properties.append((_PROPERTY, f"{device.platform}|{device.name}, driver {device.driver}"))


@pytest.fixture
def exercised(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Yield a list for the names, `platform|device, driver …`, of implementations that a test drives elsewhere."""
    names: list[str] = []
    yield names
    request.node.user_properties += [(_PROPERTY, name) for name in names]


@pytest.fixture(scope="session")
def usable() -> None:
    """Skip where there is no device that passes its self-test."""
    from mandelcl.engine import selftest
    from mandelcl.opencl.device import discover

    if not any(selftest.summary(device).passed for device in discover()):
        pytest.skip("no usable OpenCL device")


@pytest.fixture(scope="session")
def usable_double(request: pytest.FixtureRequest) -> None:
    """Skip where no device has double."""
    request.getfixturevalue("usable")
    from mandelcl.opencl.device import discover

    if not any(device.fp64 for device in discover()):
        pytest.skip("no OpenCL device with double")


@pytest.fixture(scope="session")
def compiler() -> None:
    """Skip where no C compiler builds the oracle's loops."""
    from tests.oracle import compiled  # lazily: only tests that need them wait for the build

    if not compiled.available():
        pytest.skip("needs a C compiler")


@pytest.fixture
def links(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skip a test of symbolic links where this user may make none, or none that says that it is one."""
    link = tmp_path_factory.mktemp("links") / "link"
    with suppress(OSError):  # on Windows it takes a privilege
        link.symlink_to("nothing")
    if not link.is_symlink():
        pytest.skip("this user can make no symbolic links")


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of an empty cache, in use for this test alone."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("MANDELCL_CACHE", str(folder))
    return folder


class _Tally:
    """Counts, by implementation, the tests that ran (passed or failed) on it."""

    def __init__(self, config: pytest.Config) -> None:
        self.exercised = config.stash[_EXERCISED]
        self._ran: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.outcome in ("passed", "failed"):
            self._ran.add(report.nodeid)
        if report.when == "teardown" and report.nodeid in self._ran:
            self._ran.discard(report.nodeid)
            self.exercised.update({str(value) for name, value in report.user_properties if name == _PROPERTY})


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.pluginmanager.register(_Tally(session.config), "mandelcl-tally")


def _too_few(config: pytest.Config) -> bool:
    platforms = {name.partition("|")[0] for name in config.stash[_EXERCISED]}
    elsewhere = "PYTEST_XDIST_WORKER" in os.environ  # the process that started this one counts for all
    return len(platforms) < config.stash[_IMPLEMENTATIONS] and not config.getoption("collectonly") and not elsewhere


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and _too_few(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    exercised = config.stash[_EXERCISED]
    if exercised:
        terminalreporter.section("OpenCL implementations")
    for name, tests in sorted(exercised.items()):
        platform, _, device = name.partition("|")
        terminalreporter.write_line(f"{tests:5} tests on {platform}: {device}")
    if _too_few(config):
        wanted = config.stash[_IMPLEMENTATIONS]
        terminalreporter.write_line(f"FAILED: fewer than the {wanted} implementations asked for", red=True)
