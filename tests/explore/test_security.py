"""Each way in that is closed, and what a server does when it is tried."""

import http.client
import json
import random
import socket
from collections import deque
from contextlib import ExitStack
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.explore.page import HOME, PATIENCE_S, Page, Server, serving
from tests.explore.proof import introduced


def get(server: Server, path: str, host: str | None = None, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body."""
    name, _, port = server.host.partition(":")
    connection = http.client.HTTPConnection(name, int(port), timeout=PATIENCE_S)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    connection.putheader("Host", server.host if host is None else host)
    connection.endheaders()
    with connection.getresponse() as answer:
        return answer.status, dict(answer.headers), answer.read()


def opened(server: Server, origin: str | None, token: str, host: str | None = None) -> int | str:
    """Return the status with which a socket is refused, or what its page is told once it has given its proof."""
    name, _, port = server.host.partition(":")
    try:
        with connect(
            f"ws://{host or server.host}/socket",
            sock=socket.create_connection((name, int(port)), timeout=PATIENCE_S),
            origin=None if origin is None else Origin(origin),
            compression=None,
            open_timeout=PATIENCE_S,
        ) as page:
            answer = introduced(page, str(origin), token)
            return str(answer.get("why", answer["say"]))
    except InvalidStatus as refusal:
        return refusal.response.status_code


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost:80", ""])
def test_a_foreign_host_is_refused(server: Server, host: str) -> None:
    assert get(server, "/", host)[0] == 403
    assert get(server, "/index.html", host)[0] == 403


def test_localhost_and_127_0_0_1_are_accepted(server: Server) -> None:
    port = server.host.partition(":")[2]
    for name in ("127.0.0.1", "localhost", "[::1]"):
        assert get(server, "/nothing", f"{name}:{port}")[0] == 404
        origin = f"http://{name}:{port}"
        assert opened(server, origin, server.token) == "proved"


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_wildcard_server_is_reachable_by_each_address(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "0.0.0.0", "--allow-remote", "--public-name", "Box.example") as wide:
        port = wide.host.partition(":")[2]
        assert wide.host == f"box.example:{port}"
        for reached in ("127.0.0.1", "127.0.0.2"):  # as good as any of the machine's addresses
            near = Server(wide.process, f"http://{reached}:{port}/#token={wide.token}", 0.0)
            for name in (f"{reached}:{port}", f"localhost:{port}", f"box.example:{port}", "box.example"):
                assert get(near, "/", name)[0] == 200
                assert opened(near, f"http://{name}", wide.token, name) == "proved"
            for name in (f"0.0.0.0:{port}", f"evil.example:{port}", f"127.0.0.3:{port}", "box.example:1"):
                assert get(near, "/", name)[0] == 403
                assert opened(near, f"http://{reached}:{port}", wide.token, name) == 403
                assert opened(near, f"http://{name}", wide.token) == 403
        wide.notes = f"mandelcl: other machines can reach this page, at any address of this machine, port {port}"


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "https://127.0.0.1", "http://127.0.0.1:1"])
def test_a_foreign_origin_is_refused(server: Server, origin: str | None) -> None:
    assert opened(server, origin, server.token) == 403


@pytest.mark.parametrize("token", ["", "x", "ä", "x" * 3000])
def test_a_wrong_token_is_refused(server: Server, token: str) -> None:
    assert opened(server, f"http://{server.host}", token) == "token"
    assert opened(server, f"http://{server.host}", server.token) == "proved"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "HEAD", "BREW"])
@pytest.mark.parametrize("path", ["/", "/socket", "/saved/x", "/nothing"])
def test_other_http_methods_are_refused(server: Server, method: str, path: str) -> None:
    status, headers, body = get(server, path, method=method)
    assert status in (400, 405)  # earlier versions of websockets refuse them by themselves
    assert b"<html" not in body
    if status == 405:
        assert headers["Allow"] == "GET"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "BREW"])
def test_unsupported_http_method_with_body_is_refused(server: Server, method: str) -> None:
    name, _, port = server.host.partition(":")
    with socket.create_connection((name, int(port)), timeout=PATIENCE_S) as plain:
        plain.sendall(f"{method} / HTTP/1.1\r\nHost: {server.host}\r\nContent-Length: 4\r\n\r\nbody".encode())
        answer = b"".join(iter(lambda: plain.recv(65536), b""))
    assert b"200" not in answer.partition(b"\r\n")[0]
    assert b"<html" not in answer


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/%2e%2e/server.py",
        "/static/index.html",
        "//etc/passwd",
        "/..%5cserver.py",
        "/socket/",
        "/\x00",
    ],
)
def test_nothing_outside_the_static_folder_is_served(server: Server, path: str) -> None:
    try:
        status, _, body = get(server, path)
    except (http.client.HTTPException, ValueError, ConnectionError):
        return  # the request itself was none
    assert status in (400, 403, 404)
    assert b"import" not in body


def test_responses_have_security_headers(server: Server) -> None:
    headers = get(server, "/nothing")[1]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


def test_a_message_of_65_kib_closes_the_socket(server: Server) -> None:
    with server.page() as page:
        page.socket.send("x" * 65_537)
        with pytest.raises(ConnectionClosed) as closed:
            page.drain()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_fifth_page_is_refused_until_one_disconnects(tmp_path: Path) -> None:
    with serving(tmp_path) as server, ExitStack() as stack:
        pages = deque(stack.enter_context(server.page()) for _ in range(4))
        for _ in range(20):  # pages that are loaded again and again, without a moment in between
            assert opened(server, f"http://{server.host}", server.token) == "full"
            pages.popleft().close()
            pages.append(stack.enter_context(server.page()))
        pages[0].socket.socket.shutdown(socket.SHUT_RDWR)  # a browser that was killed says no good-bye
        assert any(opened(server, f"http://{server.host}", server.token) == "proved" for _ in range(100))


VALUES: tuple[object, ...] = (
    None,
    True,
    -1,
    0,
    3,
    2**40,
    1e400,
    "",
    "x",
    "-0.75",
    "1e99999999",
    "1/0",
    [],
    [1],
    [0, 0],
    {},
    [[[]]],
)


def mutated(rng: random.Random) -> str:
    """Return a message that is nearly one, or nothing like one."""
    do = rng.choice(
        ["view", "pointer", "cancel", "close", "paint", "copy", "place", "ping", "stop", "orbit", "probe", "no"]
    )
    message: dict[str, object] = {"do": do, "pane": 1, "id": 10**6, "generation": 1, **HOME, "size": [8, 8]}
    message |= {"at": [0, 0], "colouring": {"palette": "classic"}, "job": "{}", "name": "lightning"}
    for _ in range(rng.randrange(1, 4)):
        name = rng.choice([*message, "have", "devices", "pointer", "formula", "reference", "number", "planes"])
        message[name] = rng.choice(VALUES)
    text = json.dumps(message)
    if rng.random() < 0.3:
        at = rng.randrange(len(text))
        text = text[:at] + chr(rng.randrange(1, 0x2FF)) * rng.randrange(3) + text[at + 1 :]
    return text


def survives(page: Page, messages: int, folder: Path) -> None:
    """Send so many messages, and see that the server is alive and wrote nothing."""
    before = sorted(folder.rglob("*"))
    rng = random.Random(18)
    for k in range(messages):
        page.socket.send(mutated(rng))
        if k % 100 == 99:  # what is answered is read, or the answers would fill the pipes
            page.ask("ping", "pong")
    page.ask("ping", "pong")
    picture = page.view(HOME, pane=3)
    assert picture.came.all()
    assert sorted(folder.rglob("*")) == before


@pytest.mark.full
def test_mutated_messages_get_a_problem_and_change_nothing(page: Page, folder: Path) -> None:
    survives(page, 2000, folder)


@pytest.mark.long
def test_a_hundred_thousand_mutated_messages(page: Page, folder: Path) -> None:
    survives(page, 100_000, folder)
