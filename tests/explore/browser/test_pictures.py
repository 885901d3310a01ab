"""What is seen: at rest the very pixels of a render, and in motion nearly all of them."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from mandelcl import Job, render
from mandelcl.cli import cli
from mandelcl.files.loading import read_colouring
from tests.explore.browser.explorer import PATIENCE_MS, SIZE, Explorer, opened
from tests.explore.page import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_Pixels: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
_VIEWS = (
    "re=-0.75&im=0&zoom=1.6&n=1000",
    "re=-0.7436438870371587&im=0.1318259042053126&zoom=2e6&n=5000",
    "re=-0.7452&im=0.1275&zoom=315&n=3000&rotate=30",
    "re=0&im=1&zoom=1e40&n=900",
)
_COLOURS = (
    "palette=classic",
    "palette=coursework",
    "palette=spectrum&cycle=61&offset=0.3",
    "palette=silver&transfer=root2",
    "palette=dusk&inside=ffffff&offset=0.7",
)


def rendered(command: str, folder: Path) -> _Pixels:
    """Return the pixels of the picture that a copied command draws."""
    target = folder / "own.png"
    words = shlex.split(command)[1:]
    words[words.index("-o") + 1] = str(target)
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    with Image.open(target) as image:
        return np.asarray(image.convert("RGB"))


def _as_copied(explorer: Explorer, folder: Path, option: str = "--palette") -> _Pixels:
    """Return the picture of the copied command, which has an option, and check that it is what rests."""
    reported = explorer.run(
        "(explorer) => explorer.client.ask({ do: 'copy', pane: 0, colouring: explorer.state.colouring })"
    )
    assert option in reported["command"]
    expected = rendered(reported["command"], folder)
    assert np.array_equal(explorer.resting(), expected)
    return expected


def _shares(explorer: Explorer, expected: _Pixels) -> tuple[float, float]:
    """Return the shares of pixels that are the same in motion, and that are off by at most 1."""
    off = np.abs(explorer.moving().astype(int) - expected).max(axis=2)
    return float((off == 0).mean()), float((off <= 1).mean())


@pytest.mark.full
@pytest.mark.parametrize(
    ("view", "colourings"), [(_VIEWS[0], _COLOURS), *((view, _COLOURS[k : k + 2]) for k, view in enumerate(_VIEWS[1:]))]
)
def test_picture_at_rest_equals_the_copied_command(
    browser: "Browser", server: Server, view: str, colourings: Sequence[str], tmp_path: Path
) -> None:
    with opened(browser, server, f"{view}&{colourings[0]}") as explorer:
        for colours in colourings:
            explorer.run("async (explorer, hash) => explorer.follow(hash)", f"#{view}&{colours}")
            explorer.rests()
            equal, near = _shares(explorer, _as_copied(explorer, tmp_path))
            assert equal >= 0.999, colours
            assert near >= 0.9999, colours


@pytest.mark.full
def test_counts_of_64_bits_are_painted_alike_in_motion_and_at_rest(browser: "Browser", server: Server) -> None:
    """A view with counts beyond 2^32 would take a minute: high words are put in where pixels are known."""
    view = "re=0.3&im=0.6&zoom=9&n=1000000000000000"
    put = """(explorer) => {
        const [pane] = explorer.panes, { fine } = pane.layers, { high, counts } = fine.words;
        for (let i = 0; i < high.length; i++) if (fine.known(i)) high[i] = counts[i] < 20 ? 0 : (i * 1117) % 232830;
        fine.change([0, 0, fine.width, fine.height]);
        pane.frame = null;
        return pane.paint();
    }"""
    with opened(browser, server, f"{view}&{_COLOURS[0]}") as explorer:
        for colours in (*_COLOURS, "palette=ember&transfer=linear&cycle=30000000007"):
            explorer.run("(explorer, hash) => explorer.follow(hash)", f"#{view}&{colours}")
            explorer.rests()
            expected = explorer.resting()
            explorer.run(put)
            explorer.rests()
            shown = explorer.resting()
            assert (shown != expected).any(axis=2).mean() > 0.2
            off = np.abs(explorer.moving().astype(int) - shown).max(axis=2)
            assert (off <= 1).mean() >= 0.9999, colours


@pytest.mark.full
def test_counts_of_64_bits_are_those_of_the_job(browser: "Browser", server: Server, tmp_path: Path) -> None:
    with opened(browser, server, "re=0.3&im=0.6&zoom=9&n=5000000000&palette=classic") as explorer:
        job = Job.from_json(explorer.run("(explorer) => explorer.panes[0].settled.job"))
        field, _ = render(job)
        assert field.counts.dtype == np.uint64
        assert explorer.sha256() == field.counts_sha256()
        _as_copied(explorer, tmp_path)


@pytest.mark.full
def test_effects_are_drawn_at_once_and_exact_at_rest(browser: "Browser", server: Server, tmp_path: Path) -> None:
    """Light is there from the start; what looks at the same plane comes without a pixel; another plane is asked for."""
    with opened(browser, server, f"{_VIEWS[2]}&palette=ember&light=120,1.2,0.8") as explorer:
        explorer.run(
            """(explorer) => {
                window.asked = [];
                const { client } = explorer, send = client.send.bind(client);
                client.send = (message) => { asked.push(message.do); return send(message); };
            }"""
        )
        assert _shares(explorer, _as_copied(explorer, tmp_path, "--light"))[1] >= 0.999
        explorer.page.click("[data-tool='colours']")
        for effect, views in (("boundary", 0), ("stripes", 1), ("decomposition", 0)):
            explorer.page.evaluate("() => { asked.length = 0; }")
            before = explorer.moving()
            explorer.page.check(f"[data-effect='{effect}']")
            explorer.rests()
            assert explorer.page.evaluate("() => asked.filter((each) => each === 'view').length") == views
            assert (explorer.moving() != before).any()
        assert _shares(explorer, _as_copied(explorer, tmp_path, "--boundary"))[1] >= 0.999
        expected = explorer.resting()
        explorer.is_addressed()
        link = explorer.hash
        explorer.page.reload()
        explorer.rests()
        assert explorer.hash == link
        assert np.array_equal(explorer.resting(), expected)


@pytest.mark.full
def test_a_link_carries_a_palette_that_is_in_no_list(explorer: Explorer, tmp_path: Path) -> None:
    own = "palette=own&colours=200010.f0a000.10e0ff&turn=0.8&blend=sine&ground=405060"
    explorer.run("(explorer, hash) => explorer.follow(hash)", f"#{_VIEWS[0]}&{own}")
    explorer.rests()
    expected = _as_copied(explorer, tmp_path)
    assert {(0x20, 0x00, 0x10), (0x40, 0x50, 0x60)} & set(map(tuple, expected.reshape(-1, 3).tolist()))
    assert own in explorer.run("(explorer) => explorer.link")
    explorer.page.reload()
    explorer.rests()
    assert np.array_equal(explorer.resting(), expected)


def test_received_counts_are_those_of_the_resolved_job(explorer: Explorer) -> None:
    own = explorer.run(
        """async (explorer) => {
            const pane = explorer.panes[0], { compose } = await import('/compose.js');
            const { counts } = compose([pane.layers.fine], pane.target, pane.layers.fine.maxIterations);
            const digest = await crypto.subtle.digest('SHA-256', counts.buffer);
            const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'));
            return [hex.join(''), pane.settled.job];
        }"""
    )
    field, _ = render(Job.from_json(own[1]))
    assert own[0] == explorer.sha256() == field.counts_sha256()


@pytest.mark.full
def test_without_webgl_the_processor_draws_the_same(browser: "Browser", server: Server) -> None:
    script = """
        const own = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
            return kind === 'webgl2' ? null : own.call(this, kind, ...more);
        };"""
    with opened(browser, server) as explorer:
        expected = explorer.resting()
        explorer.page.add_init_script(script)
        explorer.page.reload()
        explorer.rests()
        assert explorer.run("(explorer) => explorer.panes[0].renderer === null")
        assert np.array_equal(explorer.resting(), expected)
        assert np.array_equal(explorer.moving(), expected)
        drawn = explorer.run("(explorer) => explorer.panes[0].drawn")
        explorer.page.wait_for_timeout(500)
        assert explorer.run("(explorer) => explorer.panes[0].drawn") <= drawn + 1


@pytest.mark.full
def test_with_a_gpu_the_canvas_is_webgls_own(browser: "Browser", server: Server) -> None:
    """And shows what the processor's pictures show, which are read and put on another canvas."""
    script = """
        const own = WebGL2RenderingContext.prototype.getExtension;
        WebGL2RenderingContext.prototype.getExtension = function (name) {
            return name === 'WEBGL_debug_renderer_info' ? null : own.call(this, name);
        };"""
    shown = "(explorer) => explorer.panes[0].renderer.canvas === explorer.panes[0].moving"
    with opened(browser, server, f"{_VIEWS[2]}&palette=classic") as explorer:
        assert not explorer.run(shown)
        read = explorer.moving()
        assert np.mean(np.abs(read.astype(int) - explorer.resting()).max(axis=2) <= 1) >= 0.999
        explorer.page.add_init_script(script)
        explorer.page.reload()
        explorer.rests()
        assert explorer.run(shown)
        assert np.array_equal(explorer.moving(), read)


def test_lost_webgl_context_is_restored(explorer: Explorer) -> None:
    before = explorer.moving()
    explorer.run(
        """async (explorer) => {
            const pane = explorer.panes[0], { canvas, gl } = pane.renderer, { drawn } = pane;
            const lose = gl.getExtension('WEBGL_lose_context');
            const hear = (kind) => new Promise((resolve) => canvas.addEventListener(kind, resolve, { once: true }));
            const lost = hear('webglcontextlost'), restored = hear('webglcontextrestored');
            lose.loseContext();
            await lost;
            setTimeout(() => lose.restoreContext(), 0);
            await restored;
            while (pane.drawn === drawn) await new Promise((resolve) => setTimeout(resolve, 10));
        }"""
    )
    assert np.array_equal(explorer.moving(), before)


@pytest.mark.full
def test_only_changed_tiles_are_redrawn(explorer: Explorer) -> None:
    """At rest nothing is; a picture of a whole view is one layer, and only pixels that came or colours are painted."""
    found = explorer.run(
        """async (explorer) => {
            const pane = explorer.panes[0], { renderer, drawn } = pane, { paints } = renderer;
            for (let k = 0; k < 30; k++) await new Promise(requestAnimationFrame);
            const idle = pane.drawn - drawn, shown = [], painted = [];
            const show = renderer.show.bind(renderer), paint = paints.paint.bind(paints);
            renderer.show = (layer, ...more) => { shown.push(layer.level); show(layer, ...more); };
            paints.paint = (layer, ...more) => { painted.push(layer.level); paint(layer, ...more); };
            pane.draw(performance.now());
            painted.length = 0;
            pane.draw(performance.now());
            const again = [...painted];
            explorer.show({ colouring: { offset: 0.25 } }, 'colour');
            pane.draw(performance.now());
            [renderer.show, paints.paint] = [show, paint];
            return { idle, shown, again, painted };
        }"""
    )
    assert found == {"idle": 0, "shown": [0, 0, 0], "again": [], "painted": [0]}
    explorer.rests()


@pytest.mark.full
def test_a_view_is_saved_as_it_is_seen(explorer: Explorer, folder: Path) -> None:
    page = explorer.page
    page.keyboard.press("+")
    explorer.rests()
    page.keyboard.press("s")
    page.fill("input[aria-label='Name']", "seen")
    page.click("[data-save]")
    page.locator(".saving a").wait_for(timeout=PATIENCE_MS)
    with Image.open(folder / page.locator(".saving a").inner_text()) as image:
        assert np.array_equal(np.asarray(image.convert("RGB")), explorer.resting())
        assert image.size == SIZE


@pytest.mark.full
def test_a_save_has_the_samples_and_the_bits_that_are_chosen(explorer: Explorer, folder: Path) -> None:
    page = explorer.page
    page.keyboard.press("s")
    page.fill("input[aria-label='Name']", "fine")
    saved = page.locator(".saving a")
    page.select_option("select[aria-label='Format']", ".npz")
    for name in ("Samples per pixel", "Bits per channel"):  # counts have neither
        assert page.locator(f"select[aria-label='{name}']").is_disabled()
    page.select_option("select[aria-label='Format']", ".png")
    page.select_option("select[aria-label='Samples per pixel']", "4")
    page.select_option("select[aria-label='Bits per channel']", "16")
    page.click("[data-save]")
    saved.wait_for(timeout=PATIENCE_MS)
    path = folder / saved.inner_text()
    assert path.read_bytes()[24] == 16  # the bit depth of a PNG's IHDR
    colouring = json.loads(read_colouring(path) or "{}")
    assert (colouring["samples"], colouring["depth"]) == (4, 16)


@pytest.mark.full
def test_a_save_waits_for_the_view_that_is_being_computed(explorer: Explorer, folder: Path) -> None:
    page = explorer.page
    page.keyboard.press("s")
    page.fill("input[aria-label='Name']", "soon")
    page.locator(".pane").first.focus()
    page.keyboard.press("+")
    page.evaluate("() => document.querySelector('[data-save]').click()")  # before anything of the new view has come
    page.locator(".saving a").wait_for(timeout=PATIENCE_MS)
    explorer.rests()
    with Image.open(folder / page.locator(".saving a").inner_text()) as image:
        assert np.array_equal(np.asarray(image.convert("RGB")), explorer.resting())


@pytest.mark.full
def test_browser_downloads_a_saved_file(explorer: Explorer, folder: Path) -> None:
    page = explorer.page
    page.keyboard.press("s")
    page.click("[data-save]")
    link = page.locator(".saving a")
    link.wait_for(timeout=PATIENCE_MS)
    for _ in range(2):  # each time with a ticket of its own
        with page.expect_download(timeout=PATIENCE_MS) as download:
            link.click()
        assert Path(download.value.path()).read_bytes() == (folder / link.inner_text()).read_bytes()


# In the page itself: on a busy machine the save might end before a click came from here.
_CANCEL_ONCE_PROGRESS_IS_SHOWN = """() => new MutationObserver(() => {
  if (window.cancelled || !document.querySelector(".saving span")?.textContent.includes("%")) return;
  window.cancelled = true;
  document.querySelector(".saving button").click();
}).observe(document.body, { subtree: true, childList: true, characterData: true })"""


@pytest.mark.full
def test_a_large_save_shows_progress_and_is_cancelled(explorer: Explorer) -> None:
    page = explorer.page
    page.keyboard.press("s")
    page.select_option("select[aria-label='Size']", "")
    page.fill("input[aria-label='Width × height']", "20000x12500")
    page.fill("input[aria-label='Name']", "large")
    page.evaluate(_CANCEL_ONCE_PROGRESS_IS_SHOWN)
    page.click("[data-save]")
    ended = "() => window.cancelled && !document.querySelector('.saving span').textContent.includes('%')"
    page.wait_for_function(ended, timeout=PATIENCE_MS)
    assert "cancelled" in page.inner_text(".saving span")


@pytest.mark.full
def test_picture_at_rest_is_antialiased_as_its_command_says(
    browser: "Browser", server: Server, tmp_path: Path, folder: Path
) -> None:
    with opened(browser, server, antialias=True) as explorer:
        explorer.page.wait_for_function(
            "() => document.getElementById('explorer').explorer.panes[0].refined", timeout=PATIENCE_MS
        )
        explorer.page.keyboard.press("c")
        explorer.says("copied")
        command = explorer.page.evaluate("() => navigator.clipboard.readText()")
        assert "--samples auto" in command
        path = tmp_path / "drawn.png"
        words = shlex.split(command)[1:-1]
        CliRunner().invoke(cli, [*words, str(path), "--quiet"], catch_exceptions=False)
        with Image.open(path) as picture:
            assert np.array_equal(explorer.resting(), np.asarray(picture.convert("RGB")))
        explorer.page.keyboard.press("s")
        explorer.page.click("[data-save]")  # as shown
        explorer.page.locator(".saving a").wait_for(timeout=PATIENCE_MS)
        with Image.open(folder / explorer.page.locator(".saving a").inner_text()) as picture:
            assert np.array_equal(explorer.resting(), np.asarray(picture.convert("RGB")))
        explorer.page.keyboard.press("Escape")
        explorer.page.keyboard.press("]")  # other colours are exact at first, and refined again
        explorer.rests()
        explorer.page.wait_for_function(
            "() => document.getElementById('explorer').explorer.panes[0].refined", timeout=PATIENCE_MS
        )
        explorer.page.click("[data-tool=colours]")
        explorer.page.get_by_label("Antialias").uncheck()
        explorer.rests()
        assert explorer.run("(explorer) => explorer.panes[0].refined") is None


def test_coarse_pixels_are_blended(browser: "Browser", server: Server) -> None:
    """A zoom by 32 shows each old pixel as a smooth spot, not as a square."""
    with opened(browser, server, "re=-0.75&im=0.1&zoom=20&n=1000&palette=ember") as explorer:
        script = """(explorer) => {
            const [pane] = explorer.panes;
            pane.ask = () => {};
            explorer.show({ sight: explorer.state.sight.climbed([160, 100], 30) }, 'test');
        }"""
        explorer.run(script)
        shown = explorer.moving().astype(int)
        steps = np.abs(np.diff(shown, axis=1)).max(axis=2)
        assert (steps > 0).mean() > 0.2  # of squares of 32 pixels, one side in 32


@pytest.mark.full
@pytest.mark.parametrize("plane", ["distance", "stripe-3", "trap-circle"])
def test_colours_by_a_plane_rest_as_the_copied_command_draws_them(
    wanderer: Explorer, tmp_path: Path, plane: str
) -> None:
    wanderer.run("(explorer) => explorer.follow('#re=-0.7452&im=0.1275&zoom=315&n=500&palette=ember')")
    wanderer.rests()
    wanderer.page.click("[data-tool=colours]")
    wanderer.page.get_by_label("Colour by").select_option(plane)
    wanderer.page.keyboard.press("Escape")
    wanderer.rests()
    _as_copied(wanderer, tmp_path, "--colour-by")
    wanderer.is_addressed()
    assert f"by={plane}" in wanderer.hash
