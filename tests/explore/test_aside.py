"""Blocking calls run beside the event loop."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from mandelcl.explore.aside import Aside

_PATIENCE = 10.0  # seconds before a call that holds up the loop gives up


def test_the_event_loop_runs_while_a_call_blocks() -> None:
    async def blocked() -> bool:
        set_by_the_loop = threading.Event()
        asyncio.get_running_loop().call_soon(set_by_the_loop.set)
        return await Aside().run(set_by_the_loop.wait, _PATIENCE)

    with ThreadPoolExecutor(1) as pool:  # a browser's loop may be running in this thread
        assert pool.submit(asyncio.run, blocked()).result()
