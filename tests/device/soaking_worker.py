"""A soak whose device misbehaves: `python -m tests.device.soaking_worker KIND ROUND`, from that round on.

It is mandelcl's own worker; a method of `Device` is replaced, so that the fault is in what the device does.
"""

import os
import sys
import time
from typing import Any

from mandelcl.lab.soak import jobs, worker
from mandelcl.opencl.device import Device
from mandelcl.workers import channel

INDEX, BIT = 77, 9
SLOWER = 4.0  # so many times the processor time of a wait is spent again


def main() -> None:
    kind, at = sys.argv[1], int(sys.argv[2])
    turn = -1
    fetch, wait, run = Device.fetch, Device.wait, jobs.Counting.run

    def due() -> bool:
        return turn == at if kind == "flip" else turn >= at

    def fetched(device: Device, buffer: Any, array: Any) -> Any:
        event = fetch(device, buffer, array)
        if kind == "flip" and due() and array.size > INDEX and not done:
            wait(device, event)
            array.reshape(-1)[INDEX] ^= 1 << BIT
            done.append(True)
        return event

    def waited(device: Device, event: Any) -> None:
        started = time.process_time()
        wait(device, event)
        if due() and kind == "slow":
            until = time.process_time() + SLOWER * (time.process_time() - started)
            while time.process_time() < until:
                pass
        if due() and kind == "hang":
            time.sleep(3600)
        if due() and kind == "die":
            os.abort()

    def counted(job: jobs.Counting, number: int) -> Any:
        nonlocal turn
        turn = number
        return run(job, number)

    done: list[bool] = []
    setattr(Device, "fetch", fetched)  # noqa: B010 - mypy lets no method be replaced otherwise
    setattr(Device, "shares_memory", False)  # noqa: B010 - so that all results are fetched
    setattr(Device, "wait", waited)  # noqa: B010
    setattr(jobs.Counting, "run", counted)  # noqa: B010
    setattr(worker.Others, "share", lambda _others: 0.0)  # noqa: B010 - of tests that run beside this one
    channel.serve("soak")


if __name__ == "__main__":
    main()
