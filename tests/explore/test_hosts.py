"""By which names a server is called."""

import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.explore.hosts import Hosts


@pytest.mark.parametrize(
    ("listening", "public", "address"),
    [
        ("127.0.0.1", [], "127.0.0.1:7"),
        ("localhost", [], "localhost:7"),
        ("::1", [], "[::1]:7"),
        ("0.0.0.0", [], "127.0.0.1:7"),
        ("::", [], "[::1]:7"),
        ("192.0.2.5", [], "192.0.2.5:7"),
        ("0.0.0.0", ["Box.example"], "box.example:7"),
        ("127.0.0.1", ["box.example:443", "other"], "box.example:443"),
    ],
)
def test_page_address_is_an_accepted_host(listening: str, public: list[str], address: str) -> None:
    hosts = Hosts(listening, public)
    assert hosts.address(7) == address
    assert address in hosts.names(7)


def test_loopback_server_accepts_only_loopback_hosts() -> None:
    hosts = Hosts("127.0.0.1")
    assert hosts.names(7, "192.0.2.5") == ("127.0.0.1:7", "localhost:7", "[::1]:7")
    assert hosts.origins(7, "192.0.2.5") == ("http://127.0.0.1:7", "http://localhost:7", "http://[::1]:7")
    assert not hosts.remote


def test_wildcard_server_accepts_the_reached_address() -> None:
    hosts = Hosts("0.0.0.0")
    assert hosts.remote
    assert "192.0.2.5:7" in hosts.names(7, "192.0.2.5")
    assert "[2001:db8::1]:7" in Hosts("::").names(7, "2001:db8::1")
    assert "192.0.2.5:7" not in hosts.names(7, "192.0.2.6")
    assert "0.0.0.0:7" not in hosts.names(7, "192.0.2.5")


def test_public_name_may_be_a_tls_proxy() -> None:
    hosts = Hosts("127.0.0.1", ["box.example", "proxy.example:8443"])
    assert {"box.example", "box.example:7", "proxy.example:8443"} < set(hosts.names(7))
    assert "proxy.example:7" not in hosts.names(7)
    origins = hosts.origins(7)
    assert {"https://box.example", "http://box.example:7", "https://proxy.example:8443"} < set(origins)
    assert "https://127.0.0.1:7" not in origins
    assert "wss://proxy.example:8443" in hosts.sockets(7).split()


def test_default_port_is_omitted_from_host() -> None:
    assert "127.0.0.1" in Hosts("127.0.0.1").names(80)
    assert "127.0.0.1" not in Hosts("127.0.0.1").names(81)


@pytest.mark.parametrize("name", ["", " ", "http://x", "x/y", "x:y", "x:", "-x", "x y", "x;y", "ä", "*", "x:123456"])
def test_public_name_must_be_valid(name: str) -> None:
    with pytest.raises(InvalidInputError, match="name"):
        Hosts("127.0.0.1", [name])
