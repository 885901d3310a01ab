""".npz files: damaged, forged, packed anew. What is read is what their checksums promise, and what numpy reads."""

import io
import json
import warnings
import zipfile
from random import Random
from typing import Any

import numpy as np

from mandelcl.base.errors import FileError
from mandelcl.core.field import Field
from mandelcl.files import loading
from tests.fuzz import samples
from tests.fuzz.ground import Ground
from tests.fuzz.mutations import changed, changed_text, damaged
from tests.fuzz.oracle import require, require_line

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def fields(ground: Ground) -> None:
    """Check a damaged field: refused in a line, or the same field; and a forged one: refused, or what numpy reads."""
    original, data = ground.random.choice(samples.archives())
    forged = ground.random.random() < 0.4
    path = ground.here / "field.npz"
    path.write_bytes(_forged(original, data, ground.random) if forged else damaged(data, ground.random))
    before = path.read_bytes()
    try:
        field = loading.read_field(path)
    except FileError as error:
        require_line(f"mandelcl: {error}")
        field = None
    require(path.read_bytes() == before, "the file was changed by reading it")
    if field is None:
        return
    ground.accepted = True
    if not forged:
        require_same(field, original)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        held = np.load(path)
        for name in field.job.planes:
            require(np.array_equal(held[name], getattr(field, name, held[name])), f"numpy reads other {name}")
    require(1 - (not field.job.formula.begins_inside) <= field.counts.min(), "counts below what the formula has")
    require(field.counts.max() <= field.job.iterations, "counts beyond the iteration limit")


def recolours(ground: Ground) -> None:
    """Check `recolour`, `compare` and `--like` of such files: exit codes, what is left, and pictures that are whole."""
    from PIL import Image

    original, data = ground.random.choice(samples.archives())
    changed_data = ground.random.choice((damaged, lambda data, random: _forged(original, data, random)))
    (ground.here / "good.npz").write_bytes(data)
    (ground.here / "field.npz").write_bytes(changed_data(data, ground.random))
    kind = ground.random.randrange(3)
    if kind == 0:
        outcome = ground.command(
            "recolour", "field.npz", "-o", "new.png", "-o", "new.ppm", outputs=["new.png", "new.ppm"]
        )
        if outcome.succeeded:
            with Image.open("new.png") as png, Image.open("new.ppm") as ppm:
                require(
                    np.array_equal(np.asarray(png.convert("RGB")), np.asarray(ppm.convert("RGB"))),
                    "two formats have different pixels",
                )
    elif kind == 1:
        ground.ready()
        outcome = ground.call("compare", "field.npz", "good.npz")
        ground.require_untouched()
        require(outcome.code in (0, 1, 2), f"exit code {outcome.code}")
        if outcome.code < 2:
            ground.accepted = True
            with np.load("field.npz") as one, np.load("good.npz") as other:
                same = np.array_equal(one["counts"], other["counts"])
            require(same == (outcome.code == 0), "compare says otherwise than numpy")
        else:
            require_line(outcome.err.strip())
    else:
        ground.command("locate", "--like", "field.npz", "--iterations", "3", "--quiet")


def require_same(field: Field, original: Field) -> None:
    """Require that two fields are the same."""
    require(field.job == original.job, "another job was read from a damaged field")
    require(np.array_equal(field.counts, original.counts), "other counts were read from a damaged field")
    if original.smooth is not None:
        require(np.array_equal(field.smooth, original.smooth), "other fractions were read from a damaged field")  # type: ignore[arg-type]


def _forged(original: Field, data: bytes, random: Random) -> bytes:
    """Return a field file whose checksums are right, and some of whose members are not as they were."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = random.choice(list(members))
    kind = random.randrange(7)
    if kind == 0:
        members["job.npy"] = _npy(np.array(_job(original, random)))
    elif kind == 1:
        members[name] = damaged(members[name], random)
    elif kind == 2:
        members[random.choice(("more.npy", "smooth.npy", "certified.npy", "../x.npy", "x" * 300))] = members[name]
    elif kind == 3:
        del members[name]
    elif kind == 4:
        members[name] = _npy(_array(original, random))
    elif kind == 5:
        head, tail = members[name][:128], members[name][128:]
        members[name] = changed_text(head.decode("latin-1"), random).encode("latin-1", "replace") + tail
    method = random.choice(_METHODS) if random.random() < 0.3 else zipfile.ZIP_DEFLATED
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for member, content in members.items():
            archive.writestr(member, content)
            if random.random() < 0.01:
                archive.writestr(member, damaged(content, random))
    return (
        packed.getvalue()
        if random.random() < (0.8 if method == zipfile.ZIP_DEFLATED else 0.3)
        else damaged(packed.getvalue(), random)
    )


def _job(original: Field, random: Random) -> str:
    values = json.loads(original.job.to_json())
    return json.dumps(changed(values, random, [1, 5, 60, "counts", ["counts"], 10**6, {"width": 9}]))


def _array(original: Field, random: Random) -> Any:
    counts = original.counts
    return random.choice(
        (
            counts.astype(">u4"), counts.astype("<i8"), counts[:-1], counts.T, np.asfortranarray(counts),
            counts.astype("<f4"),
            counts + np.uint32(1 << 31), np.zeros_like(counts), np.full(counts.shape, np.nan, "<f4"), np.array("text"),
            np.array([], "<u4"), np.zeros((1, 1, 1), "<u4"), np.array([(1, 2.0)], "<u4,<f4"), counts,
        )
    )  # fmt: skip


def _npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()
