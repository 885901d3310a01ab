"""Gestures, keys and the address: where each leads, exactly."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from mandelcl.base.exact import exact
from mandelcl.core.job import Job
from mandelcl.rendering.session import Session
from tests.explore.browser.explorer import PATIENCE_MS, SIZE, Explorer, in_modules

_HOME = "re=-0.75&im=0&zoom=1.6&n=1000&limit=auto&palette=classic"
_MIDDLE = (SIZE[0] / 2, SIZE[1] / 2)
_POINT = """async (explorer, at) => explorer.state.sight.point(at).map((part) => part.toText())"""


def _place(explorer: Explorer) -> dict[str, str]:
    return dict(part.split("=") for part in explorer.run("(explorer) => explorer.link")[1:].split("&"))


def test_page_starts_at_home_and_comes_to_rest(explorer: Explorer) -> None:
    assert explorer.hash == _HOME
    assert explorer.page.title() == "mandelcl explore"
    assert "token" not in explorer.page.url


def test_the_wheel_zooms_about_the_point_under_the_pointer(wanderer: Explorer) -> None:
    at = [80, 60]
    before = wanderer.run(_POINT, at)
    wanderer.page.mouse.move(*at)
    wanderer.page.mouse.wheel(0, -360)
    wanderer.page.wait_for_function(
        "() => document.getElementById('explorer').explorer.state.sight.place.zoom.toText() != '1.6'"
    )
    place = _place(wanderer)
    assert place["zoom"] == "5"  # ten rungs of the ladder
    after = wanderer.run(_POINT, at)
    eighth = 4 / exact(place["zoom"]) / SIZE[1] / 8
    assert all(abs(exact(one) - exact(other)) <= eighth for one, other in zip(before, after, strict=True))
    wanderer.rests()
    assert wanderer.hash.startswith(f"re={place['re']}&im={place['im']}&zoom=5&")


def _frames(explorer: Explorer) -> None:
    """Wait until the page has taken what the mouse did: on a busy machine it hears of it a frame or two later."""
    explorer.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_a_drag_pans_and_keeps_the_pixels_that_are_there(wanderer: Explorer) -> None:
    wanderer.run(
        "(explorer) => { window.frames = 0; explorer.client.on('frame', ({ level }) => { frames += level === 0; }); }"
    )
    mouse = wanderer.page.mouse
    mouse.move(*_MIDDLE)
    mouse.down()
    mouse.move(_MIDDLE[0] + 40, _MIDDLE[1] - 25, steps=4)
    _frames(wanderer)
    assert wanderer.run("(explorer) => explorer.state.sight.origin") == [-40, 25]
    wanderer.page.wait_for_timeout(300)  # a drag that has stopped does not run out
    mouse.up()
    wanderer.rests()
    pitch = exact(4) / exact("1.6") / SIZE[1]
    place = _place(wanderer)
    assert abs(exact(place["re"]) - (exact("-0.75") - 40 * pitch)) <= pitch / 8
    assert abs(exact(place["im"]) + 25 * pitch) <= pitch / 8


def test_a_box_is_zoomed_into(wanderer: Explorer) -> None:
    page = wanderer.page
    page.keyboard.down("Shift")
    page.mouse.move(100, 80)
    page.mouse.down()
    _frames(wanderer)
    page.mouse.move(180, 130, steps=3)
    _frames(wanderer)
    page.mouse.up()
    page.keyboard.up("Shift")
    wanderer.rests()
    place = _place(wanderer)
    assert place["zoom"] == "6.3"  # the largest rung below 1.6 · 4, as which the box just fits
    pitch = exact(4) / exact("1.6") / SIZE[1]
    assert abs(exact(place["re"]) - (exact("-0.75") + (140 - exact("159.5")) * pitch)) < pitch


def test_alt_and_a_drag_turn_the_plane(wanderer: Explorer) -> None:
    page = wanderer.page
    page.keyboard.down("Alt")
    page.mouse.move(_MIDDLE[0] + 80, _MIDDLE[1])
    page.mouse.down()
    page.mouse.move(_MIDDLE[0] + 60, _MIDDLE[1] - 60, steps=4)
    page.mouse.up()
    page.keyboard.up("Alt")
    wanderer.rests()
    assert _place(wanderer)["rotate"] == "45"


def test_two_fingers_zoom_turn_and_move(wanderer: Explorer) -> None:
    wanderer.run(
        """(explorer) => {
            const { el } = explorer.panes[0];
            const send = (kind, id, x, y) => el.dispatchEvent(new PointerEvent(kind, {
                pointerId: id, pointerType: 'touch', clientX: x, clientY: y, bubbles: true, isPrimary: id === 1 }));
            el.setPointerCapture = () => {};
            send('pointerdown', 1, 140, 100);
            send('pointerdown', 2, 180, 100);
            for (let k = 1; k <= 4; k++) {
                send('pointermove', 1, 140 - 10 * k, 100);
                send('pointermove', 2, 180 + 10 * k, 100);
            }
            send('pointerup', 1, 100, 100);
            send('pointerup', 2, 220, 100);
            delete el.setPointerCapture;
        }"""
    )
    wanderer.rests()
    assert _place(wanderer)["zoom"] == "4.8"  # three times 1.6


_KEYS: Mapping[str, Callable[[dict[str, str]], bool]] = {
    "ArrowRight": lambda place: exact(place["re"]) > exact("-0.75"),
    "ArrowUp": lambda place: exact(place["im"]) > 0,
    "+": lambda place: place["zoom"] == "3.15",
    "-": lambda place: place["zoom"] == "0.8",
    "r": lambda place: place["rotate"] == "15",
    "R": lambda place: place["rotate"] == "-15",
    "i": lambda place: place["n"] == "2000",
    "I": lambda place: place["n"] == "500",
    "3": lambda place: place["palette"] == "ember",
    "]": lambda place: place["offset"] == "0.01",
    "[": lambda place: place["offset"] == "0.99",
    ".": lambda place: (place["transfer"], place["cycle"]) == ("root4", "1.76"),
    ",": lambda place: place["cycle"] == "1.455",
}


def test_keys_do_what_the_help_says_and_backspace_undoes_each(wanderer: Explorer) -> None:
    for key, check in _KEYS.items():
        wanderer.page.keyboard.press(key)
        assert check(_place(wanderer)), key
        wanderer.page.keyboard.press("Backspace")
        assert wanderer.run("(explorer) => explorer.link") == f"#{_HOME}", key


def test_a_chosen_limit_is_not_that_of_an_earlier_view(wanderer: Explorer) -> None:
    """An earlier view may be resolved after the choice, before the next view is requested."""
    found = wanderer.run(
        """(explorer) => {
            const limit = () => explorer.state.job.iterations;
            const chosen = () => explorer.show({ job: { iterations: 500 }, auto: false }, 'limit');
            const moves = [chosen, () => explorer.follow('#zoom=2&limit=auto', '')];
            return moves.map((move) => {
                move();
                explorer.resolved(3000);
                return limit();
            });
        }"""
    )
    assert found == [500, 3000]


def test_home_key_escape_key_and_hidden_panels(wanderer: Explorer) -> None:
    keyboard = wanderer.page.keyboard
    keyboard.press("+")
    keyboard.press("Home")
    assert wanderer.run("(explorer) => explorer.link") == f"#{_HOME}"
    keyboard.press("h")
    assert not wanderer.page.locator(".bar").is_visible()
    keyboard.press("Escape")
    assert wanderer.page.locator(".bar").is_visible()
    keyboard.press("?")
    assert "Backspace" in wanderer.page.locator(".panel").inner_text()


def test_colours_change_without_a_byte_on_the_socket(wanderer: Explorer) -> None:
    wanderer.run(
        """async (explorer) => {
            window.sent = [];
            const send = explorer.client.transport.send.bind(explorer.client.transport);
            explorer.client.transport.send = (message) => { sent.push(message); return send(message); };
            for (let late = -1; late < sent.length; ) { // what came before may still send something
                late = sent.length;
                await new Promise((resolve) => setTimeout(resolve, 200));
            }
            sent.length = 0;
        }"""
    )
    before = wanderer.resting()
    for key in ("5", "]", "]", "."):
        wanderer.page.keyboard.press(key)
    wanderer.rests()
    assert wanderer.page.evaluate("sent") == []
    assert (wanderer.resting() != before).any()


def test_a_link_is_a_place_and_back_is_undo(wanderer: Explorer) -> None:
    page = wanderer.page
    links = [wanderer.hash]
    for key in ("+", "ArrowLeft", "r"):
        page.keyboard.press(key)
        wanderer.rests()
        links.append(wanderer.hash)
    assert len(set(links)) == 4
    for link in reversed(links[:-1]):
        page.go_back()
        page.wait_for_function("(link) => location.hash === '#' + link", arg=link)
        wanderer.rests()
        assert wanderer.hash == link


def test_invalid_link_is_refused_in_one_line(wanderer: Explorer) -> None:
    wanderer.page.evaluate("location.hash = '#re=fish&im=0&zoom=2'")
    wanderer.says("is not a number")


@pytest.mark.full
def test_address_is_the_same_after_zooming_far_in_and_back(explorer: Explorer) -> None:
    script = """async (load, steps) => {
        const { explorer } = document.getElementById('explorer');
        const { zoom } = await load('moves.js');
        explorer.ask = () => {}; // the way is tested, not the pixels
        const first = explorer.link;
        for (let k = 0; k < steps; k++) zoom(explorer, [80 + (k * 37) % 160, 40 + (k * 23) % 120], 20, `step ${k}`);
        const deepest = explorer.link;
        for (let k = 0; k < steps; k++) explorer.back();
        return [first, deepest, explorer.link, explorer.journey.entries.length];
    }"""
    first, deepest, last, left = in_modules(explorer.page, script, 300)
    assert dict(part.split("=") for part in deepest[1:].split("&"))["zoom"] == "1.6e300"
    assert (last, left) == (first, 0)
    explorer.page.reload()
    explorer.rests()


def test_the_limit_stays_automatic_after_a_place_and_a_reload(wanderer: Explorer) -> None:
    """A place's own limit holds for its own view."""
    limit = "(explorer) => [explorer.state.auto, explorer.state.job.iterations]"
    wanderer.page.keyboard.press("p")
    wanderer.page.locator("[data-place=seahorse-valley]").click()
    wanderer.rests()
    assert wanderer.run(limit) == [True, 3000]
    wanderer.is_addressed()
    assert "&n=3000&limit=auto&" in wanderer.hash
    wanderer.page.reload()
    wanderer.rests()
    assert wanderer.run(limit) == [True, 3000]


def test_the_automatic_limit_at_rest_is_that_of_render(wanderer: Explorer) -> None:
    wanderer.run("(explorer) => explorer.follow('#re=-0.743643887037151&im=0.131825904205330&zoom=1e9')")
    wanderer.rests()
    job = Job.from_json(wanderer.run("(explorer) => explorer.panes[0].settled.job"))
    with Session() as session:
        wanted = session.limited(replace(job, iterations=1000, auto_iterations=True)).iterations
    assert wanderer.run("(explorer) => explorer.state.job.iterations") == job.iterations == wanted > 1000
    for _ in range(8):
        wanderer.page.keyboard.press("-")
    wanderer.rests()
    job = Job.from_json(wanderer.run("(explorer) => explorer.panes[0].settled.job"))
    with Session() as session:
        wanted = session.limited(replace(job, iterations=1000, auto_iterations=True)).iterations
    assert wanderer.run("(explorer) => explorer.state.job.iterations") == job.iterations == wanted


def test_drag_that_ends_in_motion_runs_out_and_is_held(wanderer: Explorer) -> None:
    page, origin = wanderer.page, "(explorer) => explorer.state.sight.origin"
    script = """async (explorer, hold) => {
        const { fling, hold: stop } = await import('/moves.js');
        fling(explorer, -0.4, 0);
        const end = [...explorer.state.sight.origin];
        if (hold) {
            const { ease } = explorer.panes[0];
            while (Math.abs(ease.x) > 100) await new Promise(requestAnimationFrame);
            stop(explorer);
        }
        return [end, explorer.state.sight.origin];
    }"""
    (end, held) = wanderer.run(script, True)
    assert end == [130, 0]
    assert 20 < held[0] <= 130
    wanderer.rests()
    wanderer.go_home()
    assert wanderer.run(script, False)[1] == [130, 0]
    wanderer.rests()
    assert page.evaluate("() => document.querySelector('.resting').hidden") is False
    assert wanderer.run(origin) == [0, 0]  # the view at the end has an anchor of its own


def test_dark_view_offers_a_higher_limit_and_the_way_back(wanderer: Explorer) -> None:
    wanderer.run("(explorer) => explorer.follow('#re=-0.1&im=0&zoom=100&n=500')")
    wanderer.rests()
    page = wanderer.page
    page.locator(".notice", has_text="limit of 500 iterations").wait_for(timeout=PATIENCE_MS)
    page.click("[data-raise]")
    wanderer.rests()
    assert wanderer.run("(explorer) => explorer.state.job.iterations") == 4000
    page.locator(".notice button", has_text="Back").click()
    page.locator(".notice button", has_text="Back").click()
    wanderer.rests()
    assert not page.locator(".notice").is_visible()
