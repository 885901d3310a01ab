"""The store of finished bands: what comes back is what went in, or is refused; and only its own files are removed.

In each form: the words that kernels left, counts of 16 bits, pixels.
"""

import json
import math
import os
import signal
import subprocess
import sys
import zlib
from contextlib import ExitStack, suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mandelcl.base.errors import FileError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.rendering import packing
from mandelcl.rendering.band_layout import BandLayout, Values
from mandelcl.rendering.manifest import Manifest, OtherVersionError, _checksum
from mandelcl.rendering.resuming import adopt, left_behind, locked
from mandelcl.rendering.store import _HEAD, _MAGIC, BandStore, remove
from tests import posix
from tests.host.memory import allocating

same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
COLOURING = '{"palette": "ice", "cycle": null, "offset": 0.0}'
FORMS = ["words", "smooth words", "counts16", "pixels", "indexed pixels"]
CORNERS = [0, 1, 255, 256, 65535, 65536, (1 << 31) - 1, 1 << 31, (1 << 32) - 2, (1 << 32) - 1]


def a_manifest(
    width: int = 5, height: int = 7, rows: int = 2, *, smooth: bool = False, max_iterations: int = 1000
) -> Manifest:
    view = View.centred(Fraction(-3, 4), Fraction(0), Fraction(8, 5), width, height)
    job = Job(view, max_iterations, number="float", rounding="fused", planes=("counts", "smooth")[: 1 + smooth])
    return Manifest.of_words(job, rows)


def manifest_of(form: str, width: int = 5, height: int = 7, rows: int = 2) -> Manifest:
    """Return a manifest of one of FORMS."""
    manifest = a_manifest(width, height, rows, smooth=form == "smooth words")
    forms = {
        "counts16": BandLayout.counts_16(),
        "pixels": BandLayout.pixels(COLOURING, indexed=False),
        "indexed pixels": BandLayout.pixels(COLOURING, indexed=True),
    }
    return replace(manifest, form=forms.get(form, manifest.form))


def a_store(folder: Path, manifest: Manifest) -> BandStore:
    """Return a store that has begun, locked."""
    store = BandStore(folder)
    store.lock()
    store.begin(manifest)
    return store


def values_of(manifest: Manifest, band: int, seed: int = 0) -> Values:
    chance = np.random.default_rng(seed)
    most = min(manifest.job.iterations, np.iinfo(manifest.form.dtype).max)
    return chance.integers(1, most, manifest.shape(band), dtype=manifest.form.dtype)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@given(data=st.data(), form=st.sampled_from(FORMS), most=st.sampled_from([255, 65535, (1 << 32) - 1]))
@same_folder
def test_band_survives_a_round_trip(tmp_path: Path, data: st.DataObject, form: str, most: int) -> None:
    """Words of one, two and four bytes, each layer by itself, with differences that wrap; in one frame or several."""
    sizes = data.draw(st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)))
    manifest = manifest_of(form, *sizes)
    band = data.draw(st.integers(0, manifest.bands - 1))
    most = min(most, np.iinfo(manifest.form.dtype).max)
    elements = st.sampled_from([corner for corner in CORNERS if corner <= most]) | st.integers(0, most)
    values = data.draw(arrays.arrays(manifest.form.dtype, manifest.shape(band), elements=elements))
    facts = data.draw(st.dictionaries(st.text(max_size=9), st.integers() | st.text(max_size=9), max_size=3))
    store = BandStore(tmp_path)
    store.manifest = manifest
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "_PIXELS", data.draw(st.sampled_from([1, 20, packing._PIXELS])))
        store.write(band, values, facts)
        back = store.read(band)
    assert back.values.dtype == manifest.form.dtype
    np.testing.assert_array_equal(back.values, values)
    assert back.facts == facts


@pytest.mark.parametrize("form", FORMS)
def test_array_of_another_layout_is_refused(tmp_path: Path, form: str) -> None:
    manifest = manifest_of(form)
    store = a_store(tmp_path / "s", manifest)
    values = values_of(manifest, 0)
    for other in (values[..., :-1], values.astype(np.int64), values_of(manifest, manifest.bands - 1)):
        with pytest.raises(ValueError, match="does not have the store's layout"):
            store.write(0, other)
    with pytest.raises(ValueError, match="facts of"):
        store.write(0, values, {"long": "x" * 5000})
    assert store.band_count() == 0
    store.remove()


def test_small_words_are_packed_tightly(tmp_path: Path) -> None:
    """Smooth steps are kept as what they are beyond the counts: noise of one byte."""
    manifest = a_manifest(100, 100, 100, smooth=True, max_iterations=1 << 30)
    store = a_store(tmp_path / "s", manifest)
    words = values_of(manifest, 0)
    words[1] = words[0] + 3
    words[2] = 1
    store.write(0, words)
    assert (tmp_path / "s" / "band-0000000").stat().st_size < 4.1 * 100 * 100
    np.testing.assert_array_equal(store.read(0).values, words)
    store.remove()


@pytest.mark.full
@pytest.mark.parametrize("form", FORMS)
def test_every_damage_of_a_band_is_noticed(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut short anywhere, any bit changed, longer than it was: it is called damaged, and removed."""
    monkeypatch.setattr(packing, "_PIXELS", 3)  # two frames a layer
    manifest = manifest_of(form, 3, 4)
    store = a_store(tmp_path / "s", manifest)
    store.write(0, values_of(manifest, 0), {"iterations": 77})
    path = tmp_path / "s" / "band-0000000"
    whole = path.read_bytes()
    damages = [whole[:length] for length in range(len(whole))]
    damages += [
        whole[: k // 8] + bytes([whole[k // 8] ^ 1 << k % 8]) + whole[k // 8 + 1 :] for k in range(8 * len(whole))
    ]
    swapped = whole[:-2] + whole[:-3:-1]
    for damage in [*damages, whole + b"\0", whole + whole, swapped]:
        path.write_bytes(damage)
        with pytest.raises(FileError, match="damaged"):
            store.read(0)
    assert list(store.verified()) == [(0, False)]
    assert not path.exists()
    assert list(store.verified()) == []
    store.remove()


def forged(form: BandLayout, *frames: bytes, width: int = 1) -> None:
    """Unpack a band of 2 × 2 from frames whose checksums are right."""
    table = b"".join(packing._ENTRY.pack(width, len(frame), zlib.crc32(frame), zlib.adler32(frame)) for frame in frames)
    packing.unpack(memoryview(table), memoryview(b"".join(frames)), form, 2, 2)


def test_band_files_with_other_content() -> None:
    """Whatever their checksums say: nonsense, too little, too much, two in one; little memory is taken for any."""
    form = BandLayout.pixels(COLOURING, indexed=True)
    compressor = packing._compressor()
    frame, long, bomb = (compressor.compress(bytes(size), compressor.FLUSH_FRAME) for size in (4, 5, 1 << 28))
    forged(form, frame)
    with allocating(1 << 20):
        for wrong in (b"", b"nonsense", frame[:-1], frame + frame, frame + b"\0", long, bomb):
            with pytest.raises(ValueError, match="a frame"):
                forged(form, wrong)
    with pytest.raises(ValueError, match="a frame"):
        forged(form, frame, width=3)
    with pytest.raises(ValueError, match="the length of the frames differs"):
        packing.unpack(memoryview(b""), memoryview(frame), form, 2, 2)


def test_bands_of_another_job_are_damaged(tmp_path: Path) -> None:
    """Another band's file, and the same band's of another job or another grid, under this one's name."""
    manifest = a_manifest()
    store = a_store(tmp_path / "s", manifest)
    words = values_of(manifest, 0)
    strangers = [a_manifest(max_iterations=999), a_manifest(rows=4), a_manifest(5, 9), manifest_of("smooth words")]
    strangers += [manifest_of("counts16"), manifest_of("indexed pixels")]
    for number, stranger in enumerate(strangers):
        other = a_store(tmp_path / f"other{number}", stranger)
        other.write(0, words if stranger.shape(0) == words.shape and number < 3 else values_of(stranger, 0))
        (tmp_path / f"other{number}" / "band-0000000").replace(tmp_path / "s" / "band-0000000")
        assert list(store.verified()) == [(0, False)]
        other.release()
    store.write(0, words)
    (tmp_path / "s" / "band-0000000").rename(tmp_path / "s" / "band-0000001")
    assert list(store.verified()) == [(1, False)]
    store.write(1, words)
    assert list(store.verified()) == [(1, True)], "the checks above can succeed, too"
    store.release()


@pytest.mark.full
@pytest.mark.parametrize("form", ["words", "pixels"])
def test_every_damage_of_a_manifest_is_refused(tmp_path: Path, form: str) -> None:
    """Cut short anywhere or any byte changed: refused, unless it says the same (white space)."""
    manifest = manifest_of(form)
    store = a_store(tmp_path / "s", manifest)
    path = tmp_path / "s" / "manifest.json"
    whole = path.read_bytes()
    assert store.read_manifest() == manifest
    refused = 0
    damages = [whole[:length] for length in range(len(whole))]
    damages += [
        whole[:k] + bytes([byte]) + whole[k + 1 :] for k in range(len(whole)) for byte in {whole[k] ^ 1, 48, 32}
    ]
    for damage in damages:
        path.write_bytes(damage)
        reported = ""
        try:
            assert store.read_manifest() == manifest, damage
        except FileError as error:
            reported = str(error)
        if reported:
            refused += 1
            assert "damaged" in reported
            assert "delete" in reported
            assert "\n" not in reported
    assert refused > 2 * len(whole)
    for number in range(len(whole) - 2):
        path.write_bytes(whole[:number])
        with pytest.raises(FileError):
            store.read_manifest()
    path.unlink()
    assert store.read_manifest() is None
    store.remove()


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{}", "[" * 100_000, '{"manifest": 1, "checksum": 2}', "\0", "1e999"]
)
def test_invalid_manifest_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - which one does not matter
        Manifest.parse(text)


def test_a_manifest_of_another_version_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mandelcl.rendering.manifest._VERSION", 99)
    text = a_manifest().text()
    monkeypatch.undo()
    with pytest.raises(OtherVersionError, match="version 99"):
        Manifest.parse(text)
    assert json.loads(text)["manifest"]["version"] == 99


@pytest.mark.parametrize("form", FORMS)
def test_manifest_names_its_band_layout(form: str) -> None:
    manifest = manifest_of(form)
    back = Manifest.parse(manifest.text())
    assert back == manifest
    assert back.form == manifest.form
    assert back.text() == manifest.text()


@pytest.mark.parametrize(
    "form",
    [
        None, [], {}, "words", {"kind": "counts8"}, {"kind": "words", "more": 1}, {"kind": "pixels"},
        {"kind": "pixels", "indexed": 1, "colouring": {}}, {"kind": "pixels", "indexed": True},
    ],
)  # fmt: skip
def test_unknown_band_layouts_are_refused(form: object) -> None:
    values = json.loads(a_manifest().text())["manifest"] | {"form": form}
    text = json.dumps({"manifest": values, "checksum": _checksum(values)})
    with pytest.raises(ValueError):  # noqa: PT011 - which one does not matter
        Manifest.parse(text)


# What mandelcl 0.1 wrote.
OLD_MANIFEST = """{
 "manifest": {
  "version": 1,
  "job": {
   "algorithm": "escape",
   "formula": "mandelbrot",
   "iterations": 1000,
   "number": "float",
   "radius_squared": "4",
   "rounding": "fused",
   "smooth": true,
   "strict": false,
   "version": 1,
   "view": {
    "anchor_column": 0,
    "anchor_im": "5/6",
    "anchor_re": "-2",
    "anchor_row": 0,
    "height": 3,
    "pitch": "5/6",
    "width": 4
   }
  },
  "band_rows": 2
 },
 "checksum": "ad5ec3d648034fbdae924dd2d775d339"
}
"""


@pytest.mark.parametrize("resume", [False, True])
def test_an_old_store_is_refused_in_one_line(tmp_path: Path, resume: bool) -> None:
    """It is not called damaged, nor is anything in it touched."""
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "manifest.json").write_text(OLD_MANIFEST)
    (folder / "band-0000000").write_bytes(b"mandelcl band 1\n")
    store = BandStore(folder)
    store.lock()
    with pytest.raises(
        FileError, match=r"another version of mandelcl made .*; continue with that, or delete .*$"
    ) as caught:
        left_behind([store], resume)
    assert "\n" not in str(caught.value)
    store.release()
    assert (folder / "band-0000000").read_bytes() == b"mandelcl band 1\n"
    assert (folder / "manifest.json").read_text() == OLD_MANIFEST


@pytest.mark.parametrize("rows", [math.inf, math.nan, "2", 2.0, [2], True, None])
def test_invalid_manifest_with_valid_checksum(rows: object) -> None:
    values = json.loads(a_manifest().text())
    values["manifest"]["band_rows"] = rows
    values["checksum"] = _checksum(values["manifest"])
    with pytest.raises(ValueError, match="is not a whole number"):
        Manifest.parse(json.dumps(values))


@pytest.mark.parametrize("facts", [b"[" * 4000, b"[]", b"\xff", b""])
def test_invalid_facts_with_valid_checksum(tmp_path: Path, facts: bytes) -> None:
    store, manifest = a_store(tmp_path / "s", a_manifest()), a_manifest()
    table, frames = packing.pack(values_of(manifest, 0), manifest.form)
    head = _HEAD.pack(_MAGIC, store._digest(0, facts, table), len(facts))
    (tmp_path / "s" / "band-0000000").write_bytes(head + facts + table + b"".join(frames))
    assert list(store.verified()) == [(0, False)]
    store.remove()


def test_part_file_of_another_job_is_refused() -> None:
    manifest = a_manifest()
    with pytest.raises(FileError, match="differs in iterations"):
        adopt(a_manifest(max_iterations=77).job, manifest)
    with pytest.raises(FileError, match="differs in view and planes"):
        adopt(a_manifest(6, smooth=True).job, manifest)
    auto = manifest.job.resolved("auto", "auto")
    assert adopt(auto, manifest) == manifest.job
    with pytest.raises(FileError, match="differs in number"):
        adopt(manifest.job.resolved("double", "auto"), manifest)


@pytest.mark.parametrize("resolved", ["escape", "border"])
@pytest.mark.parametrize("strict", [False, True])
def test_strict_is_stored_only_with_border_tracing(resolved: str, strict: bool) -> None:
    """Escape time fills nothing, so `auto` and strict may have been settled on it with or without the word."""
    manifest = Manifest.of_words(replace(a_manifest().job, algorithm=resolved, strict=strict), 2)
    assert adopt(replace(manifest.job, algorithm="auto"), manifest) == manifest.job
    other = replace(manifest.job, algorithm="auto", strict=not strict)
    if resolved == "escape":
        assert adopt(other, manifest) == manifest.job
    else:
        with pytest.raises(FileError, match="differs in strict"):
            adopt(other, manifest)


def test_part_file_is_kept_unless_asked(tmp_path: Path) -> None:
    stores = [a_store(tmp_path / name, a_manifest()) for name in "ab"]
    for store in stores:
        store.write(0, values_of(a_manifest(), 0))
    with pytest.raises(FileError, match="to continue it, add --resume"):
        left_behind(stores[:1], resume=False)
    with pytest.raises(FileError, match="name that output first"):
        left_behind(stores, resume=True)
    assert left_behind(stores[:1], resume=True) == a_manifest()
    for store in stores:
        store.remove()


def test_store_without_bands_is_ignored(tmp_path: Path) -> None:
    """A render that was stopped before it had kept any leaves none, and what a killed one left is no obstacle."""
    store = a_store(tmp_path / "s", a_manifest())
    store.release()
    assert names(tmp_path) == []
    for resume in (False, True):
        killed = a_store(tmp_path / "s", a_manifest())
        assert killed._lock is not None
        killed._lock.release()  # as when its process ends
        store = BandStore(tmp_path / "s")
        store.lock()
        assert left_behind([store], resume) is None
        assert names(tmp_path / "s") == ["lock"]
        store.release()
        assert names(tmp_path) == []


def test_foreign_manifest_is_kept(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "manifest.json").write_text("somebody's")
    with locked([BandStore(tmp_path / "s")]) as stores, pytest.raises(FileError, match="the render cannot continue"):
        left_behind(stores, resume=False)
    assert (tmp_path / "s" / "manifest.json").read_text() == "somebody's"


HOLD = (
    "import sys, pathlib; from mandelcl.rendering.store import BandStore\n"
    "s = BandStore(pathlib.Path(sys.argv[1])); s.lock()\n"
)


def test_second_process_is_refused_while_first_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD + "print('locked', flush=True); input()", str(tmp_path / "s")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "locked\n"
        with pytest.raises(FileError, match="is in use: another mandelcl"):
            BandStore(tmp_path / "s").lock()
        first.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        first.wait(600)
    store = BandStore(tmp_path / "s")
    store.lock()
    store.release()
    assert names(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("spare", [0, 1, 2, 3])
def test_descriptor_limit_leaves_no_file(tmp_path: Path, begun: bool, spare: int) -> None:
    """Neither to lock several stores, nor to look into a folder in order to empty it."""
    import filelock  # noqa: F401 - a process has it by then

    stores = [BandStore(tmp_path / name) for name in "ab"]
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    limits = ExitStack()
    with limits, suppress(FileError), ExitStack() as stack:
        if begun:
            stack.enter_context(locked(stores))
            stores[0].begin(a_manifest())
            stores[0].write(0, values_of(a_manifest(), 0))
        limits.enter_context(posix.limited(posix.resource.RLIMIT_NOFILE, free + spare + 2 * begun))
        if not begun:
            stack.enter_context(locked(stores))
    assert names(tmp_path) == (["a"] if begun else [])
    if begun:
        assert "band-0000000" in names(tmp_path / "a"), "what was finished is kept"


FOREIGN = ["notes.txt", "band-aid.mp3", "drafts", "draft.txt", "letter.new", "lock.txt", "manifest.json.bak"]
OURS = ["band-0000003", "band-0000003.new", "manifest.json.new", "draft"]


@pytest.mark.parametrize("begun", [True, False])
def test_only_its_own_files_are_removed(tmp_path: Path, begun: bool) -> None:
    folder = tmp_path / "s"
    store = BandStore(folder)
    store.lock()
    for name in [*FOREIGN, *OURS]:
        (folder / name).write_text("x")
    if begun:
        store.begin(a_manifest())
    store.sweep()
    assert set(names(folder)) >= set(FOREIGN), "foreign files"
    assert not {"band-0000003.new", "manifest.json.new", "draft"} & set(names(folder)), "leftovers are swept"
    assert ("band-0000003" in names(folder)) == begun, "bands without a manifest are nobody's"
    (folder / "draft" / "picture_files" / "0").mkdir(parents=True)
    (folder / "draft" / "picture_files" / "0" / "0_0.png").write_text("x")
    store.remove()
    assert names(folder) == sorted(FOREIGN)


@pytest.mark.parametrize("name", ["draft", "band-0000001", "manifest.json.new"])
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_folder_that_mandelcl_did_not_make_is_refused(tmp_path: Path, name: str, kind: str) -> None:
    """Without a lock or a manifest, names like its own are somebody else's: they stay."""
    folder = tmp_path / "a.png.part"
    inside = folder / name / "thesis.tex" if kind == "folder" else folder / name
    inside.parent.mkdir(parents=True)
    inside.write_text("x")
    store = BandStore(folder)
    with pytest.raises(FileError, match=f"{name} was not made by mandelcl; move it away"), locked([store]):
        pass
    assert inside.read_text() == "x"
    assert names(folder) == [name], "no lock was made"


def test_foreign_folders_beside_a_store_are_kept(tmp_path: Path) -> None:
    """Folders have names of a store's files, and the lock of a process that was killed is there."""
    folder = tmp_path / "a.png.part"
    for name in ("draft", "band-0000001", "manifest.json.new"):
        (folder / name).mkdir(parents=True)
        (folder / name / "thesis.tex").write_text("x")
    (folder / "lock").touch()
    with locked([BandStore(folder)]) as stores, pytest.raises(FileError, match="draft was not made by mandelcl"):
        left_behind(stores, resume=False)
    assert sorted(path.parent.name for path in folder.rglob("*.tex")) == ["band-0000001", "draft", "manifest.json.new"]


def test_symlink_in_place_of_a_tempfile_is_removed_not_followed(tmp_path: Path) -> None:
    (tmp_path / "picture_files").mkdir()
    store = BandStore(tmp_path / "s")
    store.lock()
    (tmp_path / "s" / "draft").symlink_to(tmp_path)
    store.release()
    assert names(tmp_path) == ["picture_files"]


def test_finished_store_leaves_no_file(tmp_path: Path) -> None:
    store = a_store(tmp_path / "s", a_manifest())
    store.write(0, values_of(a_manifest(), 0))
    assert store.band_count() == 1
    assert not [name for name in names(tmp_path / "s") if name.endswith(".new")]
    store.remove()
    assert names(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX")
@pytest.mark.parametrize("name", ["manifest.json", "band-0000000"])
def test_endless_file_is_not_read(tmp_path: Path, name: str) -> None:
    """A pipe that nobody writes, a device, a file of holes."""
    store = BandStore(tmp_path)
    store.manifest = a_manifest()

    def pipe(place: Path) -> None:
        posix.os.mkfifo(place)

    def device(place: Path) -> None:
        place.symlink_to("/dev/zero")

    def holes(place: Path) -> None:
        with place.open("wb") as file:
            file.truncate(1 << 40)

    for make in (pipe, device, holes):
        make(tmp_path / name)
        with pytest.raises(FileError, match=r"a device or a pipe, not a file$|is damaged, .* has more than \d+ bytes$"):
            store.read_manifest() if name == "manifest.json" else store.read(0)
        (tmp_path / name).unlink()


def test_incompressible_band_is_read(tmp_path: Path) -> None:
    manifest = a_manifest(1000, 100, 100, max_iterations=(1 << 32) - 2)
    store = a_store(tmp_path / "s", manifest)
    chance = np.random.default_rng(1)
    words = chance.integers(0, 1 << 32, manifest.shape(0), dtype=np.uint32)
    store.write(0, words)
    assert (tmp_path / "s" / "band-0000000").stat().st_size > words.nbytes
    np.testing.assert_array_equal(store.read(0).values, words)
    store.remove()


@pytest.mark.parametrize("name", ["manifest.json", "band-0000000"])
def test_a_folder_in_a_files_place_is_a_clear_error(tmp_path: Path, name: str) -> None:
    store = BandStore(tmp_path)
    store.manifest = a_manifest()
    (tmp_path / name).mkdir()
    with pytest.raises(FileError):
        store.read_manifest() if name == "manifest.json" else list(store.verified())


@pytest.mark.parametrize("refusals", [0, 3])
def test_open_file_is_removed_once_it_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusals: int) -> None:
    """As on Windows, where a thread of the process may still write the tempfile."""
    path, unlink, calls = tmp_path / "draft", Path.unlink, []

    def unlink_later(self: Path, missing_ok: bool = False) -> None:
        calls.append(self)
        if len(calls) <= refusals:
            raise PermissionError(13, "the file is in use")
        unlink(self, missing_ok=missing_ok)

    monkeypatch.setattr("mandelcl.rendering.store._KEEPS_OPEN_FILES", True)
    monkeypatch.setattr(Path, "unlink", unlink_later)
    path.write_bytes(b"x")
    remove(path)
    assert not path.exists()
    assert len(calls) == refusals + 1
    remove(path)  # one that is missing


def test_refused_removal_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, f"refused, {missing_ok}")

    monkeypatch.setattr("mandelcl.rendering.store._PAUSE_S", 0.0)
    monkeypatch.setattr(Path, "unlink", refuse)
    for keeps in (False, True):
        monkeypatch.setattr("mandelcl.rendering.store._KEEPS_OPEN_FILES", keeps)
        with pytest.raises(PermissionError):
            remove(tmp_path / "draft")
