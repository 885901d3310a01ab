"""A kernel of Jupyter's with a widget in it, and that widget's comm."""

import ast
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.explore.page import PATIENCE_S


class Kernel:
    """A kernel, of whose widget this is the comm, too; as in `Comm`, `sent.get` has what the widget says."""

    def __init__(self, manager: Any, client: Any) -> None:
        self.manager, self._client = manager, client
        self.sent = self
        client.execute("import mandelcl; shown = mandelcl.explore(); shown")
        while True:
            message = self._next(PATIENCE_S)
            state = message["content"].get("data", {}).get("state", {})
            if message["msg_type"] == "comm_open" and state.get("_model_name") == "AnyModel":
                self._comm_id = message["content"]["comm_id"]
                return

    def custom(self, content: Any, buffers: Sequence[bytes] = ()) -> None:
        """Give the widget a message of a page."""
        data = {"comm_id": self._comm_id, "data": {"method": "custom", "content": content}}
        message = self._client.session.msg("comm_msg", data)
        message["buffers"] = list(buffers)
        self._client.shell_channel.send(message)

    def get(self, timeout: float) -> tuple[Any, list[bytes]]:
        """Return the next message of the widget to its pages."""
        while True:
            message = self._next(timeout)
            data = message["content"].get("data", {})
            if message["msg_type"] == "comm_msg" and data.get("method") == "custom":
                return data["content"], [bytes(buffer) for buffer in message["buffers"]]

    def value(self, expression: str) -> Any:
        """Return what an expression is in the kernel; what the widget says meanwhile is lost."""
        asked = self._client.execute("", user_expressions={"value": expression}, silent=True)
        while (reply := self._client.get_shell_msg(timeout=PATIENCE_S))["parent_header"].get("msg_id") != asked:
            pass
        return ast.literal_eval(reply["content"]["user_expressions"]["value"]["data"]["text/plain"])

    def _next(self, timeout: float) -> Any:
        message = self._client.get_iopub_msg(timeout=timeout)
        assert message["msg_type"] != "error", message["content"]
        return message


@contextmanager
def running() -> Iterator[Kernel]:
    """Yield a kernel that shows a widget; at the end it is shut down, or dead already."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3", env=dict(os.environ), startup_timeout=PATIENCE_S)
    try:
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
