"""The way to a worker, by a thread of its own: a process that reads nothing keeps nobody waiting."""

import queue
import threading
from collections.abc import Mapping
from typing import Any

from mandelcl.workers.process import Worker


class Sender:
    """Sends orders to a worker, in their order, until it is closed."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._orders: queue.SimpleQueue[tuple[Mapping[str, Any], bool] | None] = queue.SimpleQueue()
        threading.Thread(target=self._send, name="mandelcl orders", daemon=True).start()

    def put(self, head: Mapping[str, Any], lend: bool = False) -> None:
        """Send an order; with `lend`, say in which buffer the reply is to be left, where one is free."""
        self._orders.put((head, lend))

    def close(self) -> None:
        """Send nothing more."""
        self._orders.put(None)

    def _send(self) -> None:
        while (order := self._orders.get()) is not None:
            self._worker.send(order[0], lend=order[1])
