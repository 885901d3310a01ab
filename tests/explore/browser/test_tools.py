"""The tools of the page: places, devices, comparing, the inset, minibrots, files, and its lines when things break."""

import os
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import mandelcl
from mandelcl.base.exact import exact
from tests import posix
from tests.explore.browser.cable import laid
from tests.explore.browser.explorer import PATIENCE_MS, SIZE, Explorer, opened
from tests.explore.page import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def _place(explorer: Explorer) -> dict[str, str]:
    return dict(part.split("=") for part in explorer.run("(explorer) => explorer.link")[1:].split("&"))


def test_the_link_the_command_and_the_python_are_copied(wanderer: Explorer) -> None:
    for key, begins in (("l", "http://127.0.0.1"), ("c", "mandelcl render --center -0.75 0"), ("y", "import mandelcl")):
        wanderer.page.keyboard.press(key)
        wanderer.says("copied")
        assert wanderer.page.evaluate("() => navigator.clipboard.readText()").startswith(begins)
        wanderer.page.evaluate("() => document.querySelector('.lines').replaceChildren()")


def test_named_places_have_pictures_and_lead_there(explorer: Explorer) -> None:
    page = explorer.page
    page.keyboard.press("p")
    page.click("[data-place='mini-set-1']")
    explorer.rests()
    place = _place(explorer)
    assert (place["zoom"], place["palette"], place["offset"]) == ("625/12", "forest", "0.87")
    page.wait_for_function(
        """() => {
            const canvas = document.querySelector("[data-place='whole-set'] canvas");
            return canvas.getContext('2d').getImageData(0, 0, 144, 81).data.some((value) => value !== 0);
        }""",
        timeout=PATIENCE_MS,
    )


@pytest.mark.full
def test_bookmark_is_saved_listed_and_removed(explorer: Explorer) -> None:
    page = explorer.page
    page.keyboard.press("+")
    explorer.rests()
    zoom = _place(explorer)["zoom"]
    page.keyboard.press("p")
    page.fill("input[aria-label='Name of the bookmark']", "a test's own")
    page.click("text=Bookmark this location")
    bookmark = page.locator('[data-bookmark="a test\'s own"]')
    bookmark.wait_for(timeout=PATIENCE_MS)
    page.reload()
    explorer.rests()
    page.keyboard.press("Home")
    explorer.rests()
    assert _place(explorer)["zoom"] != zoom
    page.keyboard.press("p")
    bookmark.click()
    page.wait_for_function("(zoom) => location.hash.includes(`zoom=${zoom}&`)", arg=zoom, timeout=PATIENCE_MS)
    explorer.rests()
    page.click('[aria-label="Remove the bookmark a test\'s own"]')
    bookmark.wait_for(state="detached", timeout=PATIENCE_MS)


@pytest.mark.full
def test_devices_are_listed_with_their_verdict_and_switched(explorer: Explorer) -> None:
    page = explorer.page
    page.keyboard.press("d")
    page.locator(".device .verdict", has_text="passed").first.wait_for(timeout=PATIENCE_MS)
    specs = page.locator(".device").evaluate_all("(all) => all.map((each) => each.dataset.spec)")
    counts = explorer.sha256()
    page.locator(f".device[data-spec='{specs[-1]}'] input").check()
    explorer.rests()
    assert explorer.run("(explorer) => explorer.panes[0].settled.devices") == [specs[-1]]
    page.click("text=Use all")
    explorer.rests()
    assert explorer.sha256() == counts or len(specs) > 1


@pytest.mark.full
def test_two_panes_compare_devices_and_numbers(explorer: Explorer) -> None:
    page = explorer.page
    page.keyboard.press("x")
    explorer.rests()
    page.locator(".panel .verdict", has_text="0 of").wait_for(timeout=PATIENCE_MS)
    for side, number in (("Left", "float"), ("Right", "fixed:8")):
        page.fill(f"input[aria-label='{side}: number']", number)
        page.keyboard.press("Tab")
    explorer.run("(explorer) => explorer.follow('#re=-0.7436438870371587&im=0.1318259042053126&zoom=3e4&n=3000')")
    explorer.rests()
    page.wait_for_function(
        """() => {
            const said = document.querySelector('.panel .verdict').textContent;
            return /^[1-9][0-9\\u202f]* of [0-9\\u202f]+ pixels differ$/.test(said);
        }""",
        timeout=PATIENCE_MS,
    )
    red = explorer.run(
        """(explorer) => {
            const { marks } = explorer.panes[1], context = marks.getContext('2d');
            const { data } = context.getImageData(0, 0, marks.width, marks.height);
            let red = 0;
            for (let k = 0; k < data.length; k += 4) red += data[k] === 255 && data[k + 3] === 255;
            return red;
        }"""
    )
    reported = page.locator(".panel .verdict").inner_text()
    assert red == int(reported.partition(" of ")[0].replace("\u202f", ""))
    page.keyboard.press("x")
    explorer.rests()
    assert explorer.run("(explorer) => explorer.panes.length") == 1


@pytest.mark.full
def test_the_inset_shows_the_julia_set_and_the_orbit(explorer: Explorer) -> None:
    page = explorer.page
    page.keyboard.press("j")
    page.mouse.move(120, 100)
    page.mouse.move(121, 100)
    page.wait_for_function(
        """() => {
            const { inset } = document.getElementById('explorer').explorer;
            return inset?.state === 'resting' || inset?.state === 'complete';
        }""",
        timeout=PATIENCE_MS,
    )
    page.locator(".inset .hint", has_text="period").wait_for(timeout=PATIENCE_MS)
    job = explorer.run("(explorer) => explorer.inset.settled?.job ?? explorer.inset.asked.job.formula.name")
    assert "julia" in job
    page.keyboard.press("j")
    assert not page.locator(".inset").is_visible()


def test_count_and_period_are_shown_under_the_pointer(wanderer: Explorer) -> None:
    page, point = wanderer.page, wanderer.page.locator(".status .point")
    page.mouse.move(5, 100)
    assert point.inner_text().startswith("n ")
    page.mouse.move(120, 100)  # in the disc about −1
    page.locator(".status .point", has_text="period 2").wait_for(timeout=PATIENCE_MS)


def test_key_zooms_to_the_minibrot_in_a_box(wanderer: Explorer) -> None:
    page = wanderer.page
    page.keyboard.press("m")
    page.mouse.move(70, 85)
    page.mouse.down()
    page.mouse.move(90, 115, steps=3)
    page.mouse.up()
    wanderer.says("a minibrot of period 3")
    wanderer.rests()
    assert abs(exact(_place(wanderer)["re"]) + exact("1.7548776662")) < exact("1e-6")


@pytest.mark.full
@pytest.mark.parametrize("suffix", [".png", ".npz"])
def test_a_file_that_is_dropped_is_opened(explorer: Explorer, tmp_path: Path, suffix: str) -> None:
    job = mandelcl.Job(mandelcl.View.centred("-1.25066", "0.02012", 11764, 320, 200), 700, planes=("counts", "smooth"))
    path = tmp_path / f"field{suffix}"
    mandelcl.render_to(path, job, colouring=mandelcl.Colouring(mandelcl.find_palette("ice"), offset=0.25))
    data = list(path.read_bytes())
    explorer.run(
        """(explorer, data, name) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([new Uint8Array(data)], name));
            const event = new DragEvent('drop', { dataTransfer: transfer, bubbles: true });
            document.querySelector('.explorer').dispatchEvent(event);
        }""",
        data,
        path.name,
    )
    explorer.says("opened")
    explorer.rests()
    place = _place(explorer)
    assert (place["re"], place["im"], place["zoom"], place["n"]) == ("-1.25066", "0.02012", "11764", "700")


@pytest.mark.full
def test_palette_that_is_dropped_is_shown_kept_and_edited(explorer: Explorer) -> None:
    explorer.run(
        """(explorer) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File(['0 0 0\\n255 128 0\\n9 99 199\\n'], 'sunset.map'));
            const event = new DragEvent('drop', { dataTransfer: transfer, bubbles: true });
            document.querySelector('.explorer').dispatchEvent(event);
        }"""
    )
    explorer.says("opened sunset.map")
    explorer.rests()
    page, colours = explorer.page, "(explorer) => explorer.state.colouring.palette.colours"
    assert explorer.run(colours) == ["#000000", "#ff8000", "#0963c7"]
    page.click("[data-tool=colours]")
    page.locator("[aria-label='Colour 2']").fill("#00ff00")
    page.click("[aria-label='Add a colour']")
    assert explorer.run(colours) == ["#000000", "#00ff00", "#0963c7", "#000000"]
    explorer.is_addressed()
    page.reload()
    explorer.rests()
    assert explorer.run(colours) == ["#000000", "#00ff00", "#0963c7", "#000000"]
    page.click("[data-tool=colours]")
    page.locator("[aria-label='Own palettes'] button", has_text="sunset").click()
    assert explorer.run(colours) == ["#000000", "#ff8000", "#0963c7"]


def test_foreign_file_is_refused_with_one_line(wanderer: Explorer) -> None:
    wanderer.run(
        """(explorer) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File(['no picture'], 'notes.txt'));
            const event = new DragEvent('drop', { dataTransfer: transfer, bubbles: true });
            document.querySelector('.explorer').dispatchEvent(event);
        }"""
    )
    wanderer.page.locator(".line.warning").wait_for(timeout=PATIENCE_MS)


@pytest.mark.full
@pytest.mark.parametrize(
    ("silent", "seconds"), [(False, 2), pytest.param(True, 60, marks=pytest.mark.long)], ids=["cut", "a-silent-minute"]
)
def test_lost_connection_is_reported_and_reestablished(
    browser: "Browser", server: Server, silent: bool, seconds: float
) -> None:
    port = int(server.host.rpartition(":")[2])
    with laid(port) as cable, opened(browser, server, host="localhost") as explorer:
        (cable.hush if silent else cable.cut)()
        explorer.page.keyboard.press("+")
        if not silent:
            explorer.says("was lost")
        explorer.page.wait_for_timeout(1000 * seconds)
        cable.mend()
        explorer.says("is back")
        explorer.rests()
        assert _place(explorer)["zoom"] == "3.15"
        explorer.faults.clear()  # the browser complains of connections that were refused


def test_excess_page_waits_until_another_disconnects(browser: "Browser", server: Server) -> None:
    with ExitStack() as others, closing(browser.new_context(viewport={"width": SIZE[0], "height": SIZE[1]})) as context:
        with suppress(ConnectionRefusedError):
            while True:
                others.enter_context(server.page())
        explorer = Explorer(context.new_page())
        explorer.page.goto(server.address)
        explorer.page.locator(".absence", has_text="too many open pages").wait_for(timeout=PATIENCE_MS)
        others.close()
        explorer.rests()


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_killed_worker_is_reported_and_view_completes(browser: "Browser", tmp_path: Path) -> None:
    with serving(tmp_path) as server, opened(browser, server) as explorer:
        for worker in _workers(server):
            os.kill(worker, posix.signal.SIGKILL)
        explorer.says("killed by SIGKILL")
        explorer.page.keyboard.press("+")
        explorer.rests()
        explorer.says("is back")


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_hung_worker_is_reported_and_view_completes(browser: "Browser", tmp_path: Path) -> None:
    with serving(tmp_path) as server, opened(browser, server) as explorer:
        for worker in _workers(server):
            os.kill(worker, posix.signal.SIGSTOP)
        explorer.page.keyboard.press("+")
        explorer.says("silent for 10 s")
        explorer.says("is back")
        explorer.rests()
        assert _place(explorer)["zoom"] == "3.15"


def _workers(server: Server) -> list[int]:
    """Return the processes that the server has started."""
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    if not children.exists():
        pytest.skip("this system does not say which processes a process has started")
    tasks = Path(f"/proc/{server.process.pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def test_every_button_has_a_name_and_is_reached_by_the_keyboard(wanderer: Explorer) -> None:
    page = wanderer.page
    for tool in ("view", "colours", "places", "share", "save", "devices", "keys"):
        page.click(f"[data-tool='{tool}']")
        nameless = page.locator("button, input, select, textarea").evaluate_all(
            """(all) => all.filter((each) => !(each.ariaLabel || each.title || each.textContent.trim() ||
                each.labels?.length)).map((each) => each.outerHTML)"""
        )
        assert nameless == []
    page.keyboard.press("Escape")
    reached = set()
    for _ in range(20):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("() => document.activeElement.dataset.tool ?? document.activeElement.className"))
    assert {"pane", "home", "view", "save", "compare", "keys"} <= reached


@pytest.mark.full
def test_formula_is_picked_by_its_picture_or_written(explorer: Explorer) -> None:
    page, formula = explorer.page, "(explorer) => explorer.state.job.formula"
    page.keyboard.press("f")
    page.click("[data-formula=burning-ship]")
    explorer.rests()
    assert explorer.run(formula) == {"name": "burning-ship"}
    page.fill("[aria-label=Formula][type=text]", "sqr add / absx absy sqr add")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.getElementById('explorer').explorer.state.job.formula.operations")
    explorer.rests()
    explorer.is_addressed()
    page.reload()
    explorer.rests()
    assert explorer.run(formula) == {"name": "program", "operations": "sqr add / absx absy sqr add"}
    page.keyboard.press("f")
    page.fill("[aria-label=Formula][type=text]", "z^^2")
    page.keyboard.press("Enter")
    page.locator(".line.warning").wait_for(timeout=PATIENCE_MS)
