"""Devices: listed, switched, shared, lost and back."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests import posix
from tests.explore.page import HOME, Page, Server, serving


def listed(page: Page) -> list[dict[str, Any]]:
    """Return the devices, once all are tested."""
    page.patience = 300  # some test slowly
    page.send("devices")
    while True:
        message = page.receive()
        devices = message.get("devices") if isinstance(message, dict) and message["say"] == "devices" else None
        if devices and all(one["state"] != "untested" for one in devices):
            return list(devices)


def children(process: int) -> list[int]:
    """Return the children of a process that are roles of the explorer."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            facts = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(facts[1]) == process and facts[0] != "Z":
            found.append(int(place.parent.name))
    return found


def workers(server: Server) -> list[int]:
    """Return the processes that compute views."""
    found = []
    for child in children(server.process.pid):
        words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
        if b"explore" in words:
            found.append(child)
    return found


@pytest.mark.full
def test_the_same_bits_from_each_device_and_from_all(page: Page) -> None:
    devices = [one["spec"] for one in listed(page) if one["state"] == "ready"]
    pictures = [page.view(HOME, devices=[spec], number="float", rounding="separate") for spec in devices]
    if len(devices) > 1:
        pictures.append(page.view(HOME, devices=devices, number="float", rounding="separate"))
    assert len({picture.sha256 for picture in pictures}) == 1
    assert all(picture.of("complete")["sha256"] == picture.sha256 for picture in pictures)
    rates = {one["spec"]: one["giter_per_s"] for one in listed(page)}
    assert any(rates[spec] > 0 for spec in devices)  # some have a clock too coarse for so little


def test_unknown_devices_are_refused_in_one_line(page: Page) -> None:
    before = page.view(HOME)
    for _ in range(5):
        page.begin(HOME, devices=[f"no{number}" for number in range(64)])
        failed = page.wait_for("failed")
        assert failed["generation"] == page.generation
        assert failed["why"].startswith("no device matches 'no0'; there is ")
    assert page.view(HOME).sha256 == before.sha256


needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="no /proc, which knows the workers")


@pytest.mark.full
@needs_proc
@pytest.mark.usefixtures("usable")
def test_killed_worker_is_restarted(tmp_path: Path) -> None:
    with serving(tmp_path) as server, server.page() as page:
        rest = page.view(HOME)
        slow = {**HOME, "iterations": 1_000_000, "number": "fixed:4", "size": [320, 180], "origin": [-160, -90]}
        page.begin(slow)
        page.wait_for("settled")
        (worker,) = workers(server)
        os.kill(worker, posix.signal.SIGKILL)
        lost = page.wait_for("device-lost")
        assert "killed by SIGKILL" in lost["line"]
        assert "restarting it" in lost["line"]
        again = page.view(HOME)
        assert again.sha256 == rest.sha256
        assert again.of("device-back")["line"].endswith("is back")
        assert workers(server) != [worker]


@pytest.mark.full
@needs_proc
@pytest.mark.usefixtures("usable")
def test_device_has_one_process_under_any_spec(tmp_path: Path) -> None:
    with serving(tmp_path) as server, server.page() as page:
        one = next(device for device in listed(page) if device["state"] == "ready")
        page.view(HOME, devices=[one["spec"]])
        for name in (one["name"].upper(), f" {one['spec']} ", "no such device"):
            picture = page.begin(HOME, devices=[name])
            page.wait_for("failed" if "no such" in name else "complete", picture=picture)
        named = [device for device in listed(page) if one["name"].lower() in device["name"].lower()]
        assert len(workers(server)) <= 1 + len(named)


def wait_until_idle(process: int) -> None:
    """Wait until a process uses no processor time to speak of, and for the heartbeat after that."""

    def used() -> int:  # ticks, of which a second has 100
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    before = used()
    while True:
        time.sleep(1.5)
        before, since = used(), before
        if before - since < 20:
            return


@pytest.mark.full
@needs_proc
@pytest.mark.usefixtures("usable")
def test_a_worker_that_hangs_is_ended(tmp_path: Path) -> None:
    with serving(tmp_path) as server, server.page() as page:
        rest = page.view(HOME)
        (worker,) = workers(server)
        wait_until_idle(worker)  # while it builds kernels, it may be silent for long
        os.kill(worker, posix.signal.SIGSTOP)
        long = {**HOME["lattice"], "re": "-0." + "7" * 2000}
        for _ in range(50):  # more than its pipe holds
            page.begin(HOME, lattice=long)
        page.ask("ping", "pong")
        picture = page.begin(HOME, origin=[-20, -20])
        line = page.wait_for("device-lost", picture=picture)["line"]
        assert "lost: silent for 10 s" in line
        page.finish(picture)
        assert picture.came.all()
        assert page.view(HOME).sha256 == rest.sha256


@pytest.mark.full
@needs_proc
@pytest.mark.usefixtures("usable")
def test_ctrl_c_ends_all(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        page = server.page()
        page.begin({**HOME, "iterations": 5_000_000, "number": "fixed:4"})
        page.wait_for("settled")
        left = children(server.process.pid)
        assert left
        assert server.end() == (0, "")
        for child in left:
            assert not Path(f"/proc/{child}").exists() or Path(f"/proc/{child}/stat").read_text().split()[2] == "Z"


def test_reconnected_page_continues(server: Server) -> None:
    with server.page() as page:
        first = page.view(HOME)
        page.begin(HOME, iterations=100_000, number="fixed:4")
    time.sleep(1)
    with server.page() as page:
        assert page.view(HOME).sha256 == first.sha256
