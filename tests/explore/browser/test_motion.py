"""A zoom that goes on: views in motion are shown, and the picture at rest is that of `render`."""

from pathlib import Path

import numpy as np
import pytest

from tests.explore.browser.explorer import Explorer
from tests.explore.browser.test_pictures import rendered

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
