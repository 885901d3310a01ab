"""Links to the page: where they open, what they do without a server, and what a program in its stead learns."""

import hashlib
import hmac
import socket
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.explore.browser.explorer import PATIENCE_MS, SIZE, Explorer, in_modules, opened
from tests.explore.browser.squatter import squatting
from tests.explore.browser.tls_proxy import certificate, proxying
from tests.explore.page import Server, serving, wait_until
from tests.explore.proof import mac
from tests.explore.test_security import opened as asked

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page


def _browser(browser: "Browser") -> "BrowserContext":
    """Return what is to the page a browser of its own."""
    return browser.new_context(viewport={"width": SIZE[0], "height": SIZE[1]})


def _link(explorer: Explorer) -> str:
    """Return the link that the key l copies."""
    explorer.page.keyboard.press("l")
    explorer.says("copied the link")
    return str(explorer.page.evaluate("() => navigator.clipboard.readText()"))


def _seen(context: "BrowserContext", link: str) -> Explorer:
    """Return a new tab that has opened a link and rests."""
    explorer = Explorer(context.new_page())
    explorer.page.goto(link)
    explorer.rests()
    return explorer


def _absence(page: "Page", text: str) -> None:
    page.locator(".absence:not([hidden])", has_text=text).wait_for(timeout=PATIENCE_MS)


@pytest.mark.full
def test_a_copied_link_opens_in_a_new_tab_and_in_another_browser(browser: "Browser", server: Server) -> None:
    with opened(browser, server, "re=-0.75&im=0.1&zoom=20&n=300") as explorer:
        assert "token" not in explorer.page.url
        link, bookmark = _link(explorer), explorer.page.url
        assert f"#token={server.token}&" in link
        with closing(_seen(explorer.page.context, bookmark).page) as tab:  # of the address in the bar
            assert tab.url == bookmark
        with closing(_browser(browser)) as other:
            assert _seen(other, link).page.url == bookmark
        with closing(_browser(browser)) as stranger:
            page = stranger.new_page()
            page.goto(bookmark)
            _absence(page, "This browser has no access")
            assert f"mandelcl explore '{bookmark}'" in page.locator(".absence").inner_text()
            page.goto(link)  # pasted over the address; the page is not loaded again
            Explorer(page).rests()


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_impostor_at_the_port_learns_no_token_and_bookmark_persists(browser: "Browser", tmp_path: Path) -> None:
    folder = tmp_path / "saved"
    folder.mkdir()
    with closing(_browser(browser)) as context:
        with serving(folder) as first:
            context.grant_permissions(["clipboard-read", "clipboard-write"])
            page = _seen(context, first.address)
            link, port = _link(page), first.host.rpartition(":")[2]
        page.page.keyboard.press("+")
        _absence(page.page, "The server does not answer")
        origin = f"http://{first.host}"
        kept = bytes.fromhex(Path(f"{folder}-data", "explore-token").read_text())
        secrets = [kept.hex(), mac(kept, f"mandelcl explore\n{origin}").hex()]
        with squatting(int(port)) as squatter:
            wait_until(lambda: squatter.proofs)  # the page connects by itself
            _absence(page.page, "Another program is using")
            assert first.token not in str(squatter.heard)  # not even the token of the run that has ended
            for address in (link, page.page.url):  # by the link, and from a bookmark
                with closing(context.new_page()) as tab:
                    tab.goto(address)
                    tab.wait_for_function("() => document.title === 'reported'", timeout=PATIENCE_MS)
        assert len(squatter.reports) == 2
        assert "not exported: InvalidAccessError" in squatter.reports[0]
        assert not [secret for secret in secrets if secret in str(squatter.heard).lower()]
        with serving(folder, "--port", port) as again:
            assert first.token != again.token
            assert asked(again, origin, first.token) == "token"  # which the link's address has told it
            for text in squatter.proofs:  # what was proved to it
                assert asked(again, origin, text) == "token"
            page.rests()  # it has come back by itself
            with closing(_seen(context, link).page) as tab:  # an old link opens where this server is known
                assert tab.url == link.replace(f"token={first.token}&", "")
            with closing(_browser(browser)) as stranger:
                other = stranger.new_page()
                other.goto(link)
                _absence(other, "This browser has no access")
                other.goto(_link(page))
                Explorer(other).rests()
        with serving(folder, "--port", port, "--new-token"):
            _absence(page.page, "This browser has no access")


@pytest.mark.full
def test_the_pages_own_hmac_is_the_standard_one(modules: "Page") -> None:
    script = """async (load, lengths) => {
        const { hmacSha256 } = await load('sha256.js');
        const bytes = (length) => Uint8Array.from({ length }, (_, k) => (37 * k + length) % 256);
        return lengths.map((length) => [...hmacSha256(bytes(length % 65), bytes(length))]);
    }"""
    lengths = [0, 1, 31, 32, 55, 56, 63, 64, 65, 119, 120, 1000]
    found = in_modules(modules, script, lengths)

    def data(length: int) -> bytes:
        return bytes((37 * k + length) % 256 for k in range(length))

    assert found == [list(hmac.digest(data(n % 65), data(n), hashlib.sha256)) for n in lengths]


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_page_over_plain_http_from_another_machine_connects(browser: "Browser", tmp_path: Path) -> None:
    """Browsers give such a page no crypto.subtle; here the name of this machine is `box.test`."""
    with serving(tmp_path, "--host", "0.0.0.0", "--allow-remote", "--public-name", "box.test") as wide:
        wide.notes = "mandelcl: other machines can reach this page"
        with closing(_browser(browser)) as context:
            page = context.new_page()
            page.goto(wide.address)
            Explorer(page).rests()
            assert page.evaluate("() => [typeof crypto.subtle, isSecureContext]") == ["undefined", False]
            with closing(_seen(context, page.url).page) as tab:  # a second tab, from a bookmark
                assert tab.url == page.url


def _free_ports(number: int) -> list[int]:
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [int(listener.getsockname()[1]) for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


@pytest.mark.full
def test_the_page_works_by_https_behind_a_proxy(browser: "Browser", tmp_path: Path) -> None:
    """The name box.test leads to this machine in these browsers (conftest.py)."""
    outer, inner = _free_ports(2)
    names = ("--public-name", f"box.test:{outer}", "--port", str(inner))
    with (
        serving(tmp_path, *names) as server,
        proxying(certificate(tmp_path, "box.test"), outer, inner),
        closing(
            browser.new_context(viewport={"width": SIZE[0], "height": SIZE[1]}, ignore_https_errors=True)
        ) as context,
    ):
        assert server.address.startswith(f"http://box.test:{outer}/#token=")
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        explorer = _seen(context, server.address.replace("http:", "https:"))
        assert _link(explorer).startswith(f"https://box.test:{outer}/#token=")
        bookmark = explorer.page.url
        explorer.page.close()
        _seen(context, bookmark)  # with the token that the browser keeps for this origin
