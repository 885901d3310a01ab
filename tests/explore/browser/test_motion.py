"""A zoom that goes on: views in motion are shown, none of them is kept, and the picture at rest is that of `render`."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pytest

from tests.explore.browser.explorer import SIZE, Explorer, in_modules
from tests.explore.browser.test_pictures import rendered

if TYPE_CHECKING:
    from playwright.sync_api import Page

# A wheel that is held until so many views in motion have been shown; what they were, and what is drawn on top then.
_HELD = """async (explorer, hash, wanted) => {
    const { zoom } = await import('/moves.js');
    if (hash) explorer.follow(hash);
    const [pane] = explorer.panes, shown = [], at = explorer.size.map((side) => side / 2 + 20);
    const finish = pane.passing.finish.bind(pane.passing);
    pane.passing.finish = (generation, view) => {
        finish(generation, view);
        if (view.came) shown.push({ ...view.layer.size, zoom: view.layer.place.zoom.toText() });
    };
    for (let turn = 0; shown.length < wanted && turn < 4000; turn++) {
        if (turn % 8 === 0) zoom(explorer, at, turn % 64 < 40 ? 1 : -1, 'wheel');
        await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const first = pane.layers.all[0], map = first.mapFrom(pane.target), known = pane.probe([160, 100]);
    delete pane.passing.finish;
    const near = Math.abs(Math.log(map.a * explorer.motion.coarser)), layers = pane.passing.layers.length;
    return { shown, top: Boolean(first.frames), near, known, layers };
}"""


@pytest.mark.full
@pytest.mark.parametrize("place", ["", "#re=0&im=1&zoom=1e40&n=900&palette=dusk"], ids=["home", "deep"])
def test_a_held_wheel_shows_views_in_motion_and_rests_exactly(wanderer: Explorer, tmp_path: Path, place: str) -> None:
    found = wanderer.run(_HELD, place, 12)
    assert len(found["shown"]) >= 12
    assert len({view["zoom"] for view in found["shown"]}) > 3
    assert found["top"]
    assert found["near"] < np.log(8)
    assert found["known"]["count"] is not None
    assert found["layers"] <= 6
    wanderer.rests()
    copy = "(explorer) => explorer.client.ask({ do: 'copy', pane: 0, colouring: explorer.state.colouring })"
    assert np.array_equal(wanderer.resting(), rendered(wanderer.run(copy)["command"], tmp_path))


@pytest.mark.full
def test_values_and_counts_have_the_same_colours(wanderer: Explorer) -> None:
    """The same view in motion and at rest, as WebGL draws both."""
    same = wanderer.run(
        """async (explorer) => {
            const [pane] = explorer.panes, { place } = pane.target, gl = pane.renderer.gl;
            const read = () => {
                pane.draw(performance.now());
                const pixels = new Uint8Array(4 * explorer.size[0] * explorer.size[1]);
                gl.readPixels(0, 0, ...explorer.size, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
                return pixels;
            };
            const still = read();
            pane.pass(place, [0, 0], explorer.state.job, 1);
            while (!pane.layers.all[0].frames) await new Promise((resolve) => setTimeout(resolve, 10));
            const moving = read();
            const other = (k) => [0, 1, 2].some((c) => Math.abs(still[4 * k + c] - moving[4 * k + c]) > 2);
            const off = Array.from({ length: still.length / 4 }, (_, k) => other(k)).filter(Boolean).length;
            explorer.ask(true);
            return [off, still.length / 4];
        }"""
    )
    assert same[0] <= same[1] // 500
    wanderer.rests()


@pytest.mark.full
@pytest.mark.parametrize("coarser", [2, pytest.param(4, marks=pytest.mark.long)])
def test_a_canvas_with_fewer_columns_shows_the_same_picture(wanderer: Explorer, coarser: int) -> None:
    """While views with fewer columns are requested, a slow canvas has as many as they; at rest it has all."""
    wanderer.run("(explorer) => explorer.follow('#re=-0.7436&im=0.1318&zoom=100&n=300&palette=classic')")
    wanderer.rests()
    found = wanderer.run(
        """async (explorer, coarser) => {
            const [pane] = explorer.panes, { place } = pane.target, { canvas, gl } = pane.renderer;
            const read = () => {
                pane.draw(performance.now());
                const pixels = new Uint8Array(4 * canvas.width * canvas.height);
                gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
                return { size: [canvas.width, canvas.height], pixels: [...pixels] };
            };
            const still = read();
            pane.pace.cost = 1000;
            pane.pass(place, [0, 0], explorer.state.job, coarser);
            const begun = read();
            while (!pane.layers.all[0].frames) await new Promise((resolve) => setTimeout(resolve, 10));
            const moving = read();
            pane.pace.cost = 0;
            explorer.ask(true);
            return [still, begun, moving, read()];
        }""",
        coarser,
    )
    still, begun, moving, after = (
        np.asarray(one["pixels"], np.int16).reshape(*one["size"][::-1], 4)[..., :3] for one in found
    )
    assert still.shape == after.shape == (SIZE[1], SIZE[0], 3)
    assert begun.shape == moving.shape == (SIZE[1] // coarser, SIZE[0] // coarser, 3)
    tall, wide = moving.shape[:2]
    blocks = still.reshape(tall, coarser, wide, coarser, 3)

    def other(coarse: npt.NDArray[np.int16]) -> float:
        """Return the share of pixels that are unlike all of those that they stand for."""
        return float(np.mean(np.abs(blocks - coarse[:, None, :, None]).sum(-1).min(axis=(1, 3)) > 24))

    for coarse in (begun, moving):
        moved = [coarse[::-1], coarse[:, ::-1], np.roll(coarse, 2, 0), np.roll(coarse, 2, 1)]
        assert 2 * other(coarse) < min(map(other, moved))
    wanderer.rests()


def test_slow_pictures_give_views_in_motion_fewer_columns(wanderer: Explorer) -> None:
    """And quick ones give them back, as many as the server has time for."""
    sizes = wanderer.run(
        """async (explorer) => {
            const [pane] = explorer.panes, { motion } = explorer, found = [];
            if (!pane.canvas) await pane.draw(performance.now()); // the view was complete before the first frame
            motion.coarser = 1;
            for (const cost of [1000, 1]) {
                pane.pace.cost = cost * pane.canvas / (pane.target.size[0] * pane.target.size[1]);
                motion.begin();
                found.push(motion.coarser);
                for (let k = 0; k < 20; k++) {
                    motion.hear({ say: 'complete', seconds: 0.001 }, { asked: 0, came: 1 });
                    found.push(motion.coarser);
                }
            }
            motion.coarser = 1;
            return found;
        }"""
    )
    slow, quick = sizes[:21], sizes[21:]
    assert slow == [4] * 21
    assert quick[0] == 4
    assert quick[-1] == 1
    assert sorted(quick, reverse=True) == quick


def test_a_picture_that_is_there_later_is_awaited(modules: "Page") -> None:
    """The next one is drawn after it, once however often it was wanted, and its cost is the time until it is there."""
    script = """async (load) => {
        const { Pace } = await load('pace.js');
        const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms)), found = [], there = [];
        const pace = new Pace(() => new Promise((resolve) => there.push(resolve)));
        const drawn = async (count) => { while (there.length < count) await wait(5); };
        pace.now();
        await drawn(1);
        for (let k = 0; k < 3; k++) {
            pace.now();
            await wait(50);
        }
        found.push(there.length);
        there[0]();
        await drawn(2);
        found.push(pace.cost);
        there[1]();
        await wait(100);
        found.push(there.length);
        pace.now();
        await drawn(3);
        pace.now();
        pace.halt();
        there[2]();
        await wait(100);
        found.push(there.length);
        return found;
    }"""
    waiting, cost, after, halted = in_modules(modules, script)
    assert waiting == 1
    assert cost >= 70
    assert (after, halted) == (2, 3)


@pytest.mark.full
def test_nothing_of_views_in_motion_stays(wanderer: Explorer) -> None:
    """Of the buffers that have come, few are left at rest, and few textures."""
    came = wanderer.run(
        """async (explorer) => {
            const { zoom } = await import('/moves.js');
            const [pane] = explorer.panes, take = pane.passing.take.bind(pane.passing), buffers = new Map();
            window.buffers = buffers;
            pane.passing.take = (frame) => {
                if (frame.words?.values) buffers.set(buffers.size, new WeakRef(frame.words.values.buffer));
                return take(frame);
            };
            for (let turn = 0; buffers.size < 40 && turn < 4000; turn++) {
                if (turn % 8 === 0) zoom(explorer, [100, 100], turn % 64 < 40 ? 1 : -1, 'wheel');
                await new Promise((resolve) => setTimeout(resolve, 10));
            }
            delete pane.passing.take;
            return buffers.size;
        }"""
    )
    assert came >= 40
    wanderer.rests()
    wanderer.page.context.new_cdp_session(wanderer.page).send("HeapProfiler.collectGarbage")
    left = wanderer.run(
        """(explorer) => {
            const left = [...window.buffers.values()].filter((one) => one.deref()).length;
            delete window.buffers;
            return [left, explorer.panes[0].renderer.paints.layers.size, explorer.panes[0].passing.views.size];
        }"""
    )
    assert left[0] <= 8
    assert left[1] <= 12
    assert left[2] == 0
