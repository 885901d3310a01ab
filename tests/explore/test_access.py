"""Tokens: what a page has to prove, what it is told, and where the user's own token lies."""

import errno
import os
import stat
from contextlib import ExitStack
from pathlib import Path

import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.explore.access import Access, kept_token
from mandelcl.explore.hosts import DEFAULT_PORT, listening
from mandelcl.explore.places import view_of
from tests.explore.proof import mac

_ORIGIN = "http://127.0.0.1:27182"
_KEPT = bytes(range(32))


def _answered(access: Access, token: bytes, name: str, origin: str = _ORIGIN, about: str = "page") -> object:
    """Return what a page of `_ORIGIN` is told whose proof is for an origin."""
    challenge = access.challenge(_ORIGIN)
    proof = mac(token, f"{about}\n{origin}\n{challenge.nonce}\nmine").hex()
    return challenge.answer({"do": "prove", "nonce": "mine", name: proof})


def test_handshake_exchanges_both_tokens_and_proves_the_server() -> None:
    access = Access(_KEPT)
    of_page = mac(_KEPT, f"mandelcl explore\n{_ORIGIN}")
    for name, token in (("run", access.run_token.encode()), ("kept", of_page)):
        challenge = access.challenge(_ORIGIN)
        about = f"{_ORIGIN}\n{challenge.nonce}\nmine"
        reported = challenge.answer({"do": "prove", "nonce": "mine", name: mac(token, f"page\n{about}").hex()})
        assert reported is not None
        assert reported["with"] == name
        assert reported["proof"] == mac(token, f"server\n{about}").hex()
        for other, secret in (("run", access.run_token.encode()), ("kept", of_page)):
            pad = mac(token, f"{other}\n{about}")
            assert bytes(one ^ two for one, two in zip(pad, bytes.fromhex(reported[other]), strict=True)) == secret
        assert access.run_token not in str(reported)
        assert of_page.hex() not in str(reported)


def test_proof_is_bound_to_origin_nonce_and_side() -> None:
    access = Access(_KEPT)
    run = access.run_token.encode()
    assert _answered(access, run, "run") is not None
    assert _answered(access, run, "run", "http://127.0.0.1:27183") is None  # passed on from another port
    assert _answered(access, run, "run", about="server") is None  # what a server has said, sent back
    assert _answered(access, run, "kept") is None
    assert _answered(access, _KEPT, "kept") is None
    assert _answered(access, mac(_KEPT, "mandelcl explore\nhttp://127.0.0.1:27183"), "kept") is None
    assert _answered(Access(_KEPT), run, "run") is None  # the token of a run that has ended
    heard = access.challenge(_ORIGIN)
    proof = mac(run, f"page\n{_ORIGIN}\n{heard.nonce}\nmine").hex()
    assert access.challenge(_ORIGIN).answer({"do": "prove", "nonce": "mine", "run": proof}) is None


@pytest.mark.parametrize("message", [{"do": "ping"}, {"do": "prove"}, {"do": "prove", "nonce": 1}, {}])
def test_invalid_proof_is_refused(message: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        Access(_KEPT).challenge(_ORIGIN).answer(message)


def test_token_file_is_private_and_renewable(tmp_path: Path) -> None:
    path = tmp_path / "data" / "explore-token"
    token, line = kept_token(path)
    assert (len(token), line) == (32, "")
    assert kept_token(path) == (token, "")
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    renewed = kept_token(path, renew=True)[0]
    assert renewed != token
    assert kept_token(path) == (renewed, "")
    path.write_text("00ff")  # damaged
    mended = kept_token(path)[0]
    assert mended != renewed
    assert kept_token(path) == (mended, "")


@pytest.mark.skipif(os.name != "posix", reason="Windows has no modes of files")
def test_token_file_accessible_to_others_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "explore-token"
    token, _ = kept_token(path)
    path.chmod(0o644)
    other, line = kept_token(path)
    assert other != token
    assert "other users could read" in line
    assert kept_token(path) == (other, "")
    tmp_path.chmod(0o777)
    path.unlink()
    _, line = kept_token(path)
    assert "links are only valid until this server ends" in line
    assert not path.exists()
    assert "links are only valid" in kept_token(Path("/proc/mandelcl/explore-token"))[1]


def test_port_is_the_default_or_the_next_free_one() -> None:
    ports = []
    with ExitStack() as held:
        for _ in range(3):
            taken = held.enter_context(listening("127.0.0.1", None))
            taken.listen()
            ports.append(taken.getsockname()[1])
        with pytest.raises(OSError, match=r".") as error:
            listening("127.0.0.1", ports[0])
        assert error.value.errno == errno.EADDRINUSE
    assert len(set(ports)) == len(ports)
    if max(ports) < DEFAULT_PORT + 10:  # others on this machine leave it that many
        assert ports == sorted(ports)
        assert ports[0] >= DEFAULT_PORT


def test_link_is_parsed_to_its_view() -> None:
    view = "re=-0.75&im=1e-3&zoom=200&formula.exponent=3&light=135,1.5,1"
    for link in (f"http://127.0.0.1:27182/#token=abc&{view}", f"https://box.example/#{view}", f"#{view}"):
        assert view_of(link) == view


@pytest.mark.parametrize(
    "link",
    ["", "http://127.0.0.1:27182/", "http://[", "#x", "#token=abc", "#re=<b>", "#re=1&' ;rm", "#zoom=1" + "0" * 65536],
)
def test_invalid_link_is_refused(link: str) -> None:
    with pytest.raises(InvalidInputError, match="not a link of the explorer"):
        view_of(link)
