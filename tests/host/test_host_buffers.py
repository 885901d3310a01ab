"""Lent memory: it comes back when nothing views it any more, never before, and there is only so much of it."""

import gc
import threading
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.base import machine
from mandelcl.base.words import Words
from mandelcl.engine import host_buffers
from mandelcl.engine.host_buffers import HostPool
from mandelcl.opencl.device import Device


class Host:
    """A device that says how much memory it was asked for."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def host_memory(self, shape: tuple[int, ...]) -> Words:
        memory = np.zeros(shape, np.uint32)
        self.sizes.append(memory.nbytes)
        return memory


def host_pool(most: int | None = None) -> tuple[HostPool, Host]:
    host = Host()
    return HostPool(cast(Device, host), most), host


def address(array: npt.NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def test_buffer_is_reused_once_unreferenced() -> None:
    bank, host = host_pool()
    first = bank.acquire((3, 5, 7))
    place, view = address(first), first[1:].reshape(-1).view(np.uint8)[2:]
    del first
    assert address(bank.acquire((3, 5, 7))) != place, "a view keeps it"
    kept = memoryview(cast(Any, view))
    del view
    assert address(bank.acquire((3, 5, 7))) != place
    del kept
    gc.collect()
    assert place in [address(one) for one in [bank.acquire((3, 5, 7)), bank.acquire((3, 5, 7))]]
    assert len(host.sizes) == 2


def test_types_and_shapes() -> None:
    bank, host = host_pool()
    for shape, dtype in (((4, 3), np.uint16), ((5,), np.uint8), ((2, 2), np.float32), ((0, 3), np.uint32)):
        array = bank.acquire(shape, dtype)
        assert (array.shape, array.dtype) == (shape, np.dtype(dtype))
        assert array.flags.c_contiguous
        assert array.flags.writeable
        array[...] = 7
        assert (array == 7).all()
    assert all(size % 4 == 0 for size in host.sizes)


def test_much_larger_buffer_is_not_reused() -> None:
    bank, host = host_pool()
    del_me = bank.acquire((1000,))
    del del_me
    small = bank.acquire((10,))
    assert host.sizes == [4000, 40]
    assert small.size == 10


@given(st.lists(st.tuples(st.integers(0, 600), st.booleans()), max_size=60))
@settings(deadline=None)
def test_pool_is_bounded_and_lends_each_buffer_once(steps: list[tuple[int, bool]]) -> None:
    bank, _ = host_pool(4000)
    acquired: list[Words] = []
    for value, (size, drop) in enumerate(steps):
        if drop and acquired:
            acquired.pop(size % len(acquired))
        array = bank.acquire((size,))
        array[...] = value
        acquired.append(array)
        assert bank._held <= 4000
        for one in acquired:
            assert (one == one[:1]).all(), "memory was lent twice"


def test_buffers_of_a_closed_pool_stay_valid() -> None:
    bank, host = host_pool()
    array = bank.acquire((8,))
    array[...] = 3
    bank.clear()
    other = bank.acquire((8,))
    other[...] = 4
    assert (array == 3).all()
    del array
    assert len(host.sizes) == 2
    third = bank.acquire((8,))
    assert len(host.sizes) == 3, "what was lent before is forgotten"
    del other, third


def test_arrays_may_be_freed_in_any_thread() -> None:
    bank, host = host_pool()
    for _ in range(20):
        holder = [bank.acquire((100,))]
        thread = threading.Thread(target=holder.clear)
        thread.start()
        thread.join()
    assert len(host.sizes) == 1


def test_too_little_memory_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    bank, _ = host_pool()
    for module in (host_buffers, machine):
        monkeypatch.setattr(module, "available_bytes", lambda: 100.0)
    assert bank.acquire((25,)).size == 25
    with pytest.raises(MemoryError):
        bank.acquire((26,))
