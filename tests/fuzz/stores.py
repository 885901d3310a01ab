"""FILE.part: manifests and bands damaged, or other ones with right checksums; renders that go on with them."""

import json
import struct
import zlib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import mandelcl
from mandelcl.base.errors import FileError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.files import deflate
from mandelcl.rendering import packing
from mandelcl.rendering.band_layout import BandLayout
from mandelcl.rendering.manifest import Manifest, _checksum
from mandelcl.rendering.store import _HEAD, _MAGIC, MANIFEST, BandStore
from tests import posix
from tests.fuzz import samples
from tests.fuzz.devices import device
from tests.fuzz.ground import Ground
from tests.fuzz.mutations import as_json, changed, damaged
from tests.fuzz.oracle import require, require_line

_ROWS = 3


@cache
def _manifests() -> tuple[Manifest, ...]:
    """Return manifests of each form."""
    plain, smooth = (replace(job, number="float", rounding="fused", method="direct") for job in samples.jobs()[:2])
    colouring = samples.colouring_texts()[0]
    made = [Manifest.of_words(plain, _ROWS), Manifest.of_words(smooth, _ROWS)]
    forms = (
        BandLayout.counts_16(),
        BandLayout.pixels(colouring, indexed=True),
        BandLayout.pixels(colouring, indexed=False),
    )
    return (*made, *(Manifest(plain, _ROWS, form) for form in forms))


def _values(manifest: Manifest, band: int) -> Any:
    chance = np.random.default_rng(band)
    most = min(manifest.job.iterations, np.iinfo(manifest.form.dtype).max)
    return chance.integers(1, most, manifest.shape(band), manifest.form.dtype, endpoint=True)


def stores(ground: Ground) -> None:
    """Check a store whose files are changed: each band is as it was written, or damaged; a manifest so, or refused."""
    random = ground.random
    manifest = random.choice(_manifests())
    folder = ground.here / "a.png.part"
    store = BandStore(folder)
    store.lock()
    try:
        store.begin(manifest)
        for band in range(manifest.bands):
            store.write(band, _values(manifest, band), {"iterations": band})
        kept = store.manifest
        assert kept is not None
        forged = random.random() < 0.5
        if random.random() < 0.5:
            _check_manifest(store, kept, random, forged)
        else:
            _check_band(store, kept, random, forged)
        ground.accepted = True
    finally:
        store.remove()
    require(not folder.exists(), f"left in the store: {[*folder.iterdir()] if folder.exists() else folder}")


def _check_manifest(store: BandStore, kept: Manifest, random: Random, forged: bool) -> None:
    path = store.folder / MANIFEST
    values = json.loads(path.read_text())
    if forged:
        usual = ({"kind": "words"}, {"kind": "counts16"}, {"kind": "pixels"}, 1, 2, 3, 10**9)
        core = changed(values["manifest"], random, usual)
        values = {"manifest": core, "checksum": _checksum(core)}
        text = as_json(values, random).encode("utf-8", "surrogatepass")
    else:
        text = damaged(path.read_bytes(), random)
    path.write_bytes(text)
    try:
        manifest = store.read_manifest()
    except FileError as error:
        require_line(f"mandelcl: {error}")
        path.write_text(kept.text())
        return
    assert manifest is not None
    if not forged:
        require(manifest == kept, "another manifest was read from a damaged one")
    else:
        core = json.loads(text)["manifest"]
        require(manifest.band_rows == core["band_rows"], "other rows of bands than the manifest says")
        require(manifest.form.as_dict() == core["form"], "another form than the manifest says")
        require(json.loads(manifest.job.to_json())["iterations"] == core["job"]["iterations"], "another job")
    path.write_text(kept.text())


def _check_band(store: BandStore, kept: Manifest, random: Random, forged: bool) -> None:
    band = random.randrange(kept.bands)
    path = store.folder / f"band-{band:07d}"
    whole = path.read_bytes()
    data, promised = _forged(store, band, whole, random) if forged else (damaged(whole, random), None)
    path.write_bytes(data)
    try:
        values = store.read(band).values
    except FileError as error:
        require_line(f"mandelcl: {error}")
        require("damaged" in str(error), f"a damaged band is called something else: {error}")
        require(list(store.verified())[band] == (band, False), "a damaged band was not found among all")
        return
    if promised is not None:
        require(values.tobytes() == promised.tobytes(), "a band is not what its checksums promise")
    elif not forged:
        require(np.array_equal(values, _values(kept, band)), "other values were read from a damaged band")


def _forged(store: BandStore, band: int, whole: bytes, random: Random) -> tuple[bytes, Any]:
    """Return a band with right checksums, and the values that they promise where that is known."""
    manifest = store._require_manifest()
    _, _, facts_bytes = _HEAD.unpack_from(whole)
    facts = whole[_HEAD.size : _HEAD.size + facts_bytes]
    rest = whole[_HEAD.size + facts_bytes :]
    size = packing.TABLE_ENTRY_BYTES * packing.entries(manifest.form, manifest.rows(band), manifest.job.view.width)
    table, frames, promised = rest[:size], rest[size:], None
    kind = random.randrange(4)
    if kind == 0:
        facts = as_json(changed({"iterations": 1, "pixels": 3}, random), random).encode("utf-8", "surrogatepass")
    elif kind == 1:
        promised = np.roll(_values(manifest, band), 1)
        table, parts = packing.pack(promised, manifest.form)
        frames = b"".join(parts)
    elif kind == 2:
        frames = damaged(frames, random)
        entry = struct.Struct("<BIII")
        checks = deflate.crc32(frames), deflate.adler32(frames)
        table = entry.pack(random.choice((1, 2, 4, 3, 0)), len(frames), *checks) * max(1, size // entry.size)
    else:
        table = damaged(table, random)
    digest = store._digest(band, facts, table)
    return _HEAD.pack(_MAGIC, digest, len(facts)) + facts + table + frames, promised


@dataclass(frozen=True)
class _Render:
    """A render that is continued: its command, its resolved job, its counts, and its file."""

    arguments: tuple[str, ...]
    job: Job
    counts: Any
    file: bytes


@cache
def _render(folder: Path) -> _Render:
    size = 40, 12
    job = Job(View.centred("-0.75", 0, "1.6", *size), 200, number="float", rounding="fused", method="direct")
    field, _ = mandelcl.render(job, [device()])
    path = folder / "whole.ppm"
    colouring = mandelcl.Colouring(mandelcl.find_palette("coursework"))
    mandelcl.render_to(path, job, colouring, [device()])
    file = path.read_bytes()
    path.unlink()
    options: tuple[str, ...] = (
        "--center",
        "-0.75",
        "0",
        "--zoom",
        "1.6",
        "--size",
        "40x12",
        "--iterations",
        "200",
        "--number",
        "float",
    )
    options += (
        "--samples",
        "1",
        "--rounding",
        "fused",
        "--method",
        "direct",
        "--palette",
        "coursework",
        "--device",
        device().spec,
    )
    return _Render(("render", *options, "-o", "a.ppm"), field.job, field.counts, file)


def resumes(ground: Ground) -> None:
    """Check a render that goes on with a changed FILE.part: the very bytes of one that never stopped, or a refusal.

    Files of others in that folder stay as they are.
    """
    random, wanted = ground.random, _render(ground.here)
    folder = ground.here / "a.ppm.part"
    manifest = Manifest.of_words(wanted.job, 4)
    store = BandStore(folder)
    store.lock()
    store.begin(manifest)
    kept = random.sample(range(manifest.bands), random.randrange(1, manifest.bands + 1))
    for band in kept:
        store.write(band, wanted.counts[np.newaxis, 4 * band : 4 * band + manifest.rows(band)].copy())
    store._lock.release()  # type: ignore[union-attr]  # as a process does that is killed
    strangers = _disturb(folder, random)
    if (folder / "lock").is_file() and (folder / "lock").stat().st_size:
        strangers = {*strangers, "lock"}  # locks of mandelcl are empty
    ground.ready()
    resume = random.random() < 0.9
    outcome = ground.call(*wanted.arguments, *(["--resume"] if resume else []))
    from tests.fuzz.oracle import require_reported

    require_reported(outcome, (0, 1))
    own = [f"a.ppm.part/{name}" for name in (MANIFEST, "lock", "draft", *(f"band-{band:07d}" for band in range(20)))]
    own = [name for name in own if Path(name).name not in strangers]
    if outcome.succeeded:
        ground.accepted = True
        require((ground.here / "a.ppm").read_bytes() == wanted.file, "another picture than without a stop")
        left = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
        require(left == sorted(strangers), f"left in FILE.part: {left}")
        ground.require_untouched("a.ppm", "a.ppm.part", *own)
    else:
        require(not (ground.here / "a.ppm").exists(), "exit code 1, and the picture is there")
        ground.require_untouched(*own)


def _disturb(folder: Path, random: Random) -> set[str]:
    """Damage what is in the folder, or put things of others there; return the names of what is not mandelcl's."""
    kind = random.randrange(6)
    paths = sorted(folder.iterdir())
    if kind == 0:
        path = random.choice(paths)
        path.write_bytes(damaged(path.read_bytes(), random))
    elif kind == 1:
        random.choice(paths).unlink()
    elif kind == 2:
        (folder / "notes.txt").write_text("somebody's")
        return {"notes.txt"}
    elif kind == 3:
        name = random.choice(("draft", "band-0000099", "manifest.json.new", "other"))
        (folder / name).mkdir()
        (folder / name / "precious").write_text("somebody's")
        return {name}
    elif kind == 4:
        path = random.choice(paths)
        path.unlink()
        if random.random() < 0.5:
            path.symlink_to("../precious.txt")
        else:
            posix.os.mkfifo(path)
    else:
        path = folder / f"band-{random.randrange(3):07d}"
        if path.exists():
            path.write_bytes(path.read_bytes()[: random.randrange(60)] + zlib.compress(b"x" * 99))
    return set()
