"""Pictures: the job that PNG and TIFF files carry, and `compare`, against what Pillow and numpy see."""

import io
import json
import struct
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from PIL import Image, PngImagePlugin

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.colour.colour import Colouring
from mandelcl.core.job import Job
from mandelcl.core.numbers import require_known
from mandelcl.files import loading
from tests.fuzz import samples
from tests.fuzz.ground import Ground
from tests.fuzz.mutations import as_json, changed, changed_text, damaged
from tests.fuzz.oracle import Outcome, require, require_line, require_reported

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KINDS = (b"tEXt", b"zTXt", b"iTXt")


def texts(ground: Ground) -> None:
    """Check a changed picture: what it carries is read as it is written there, or refused in a line."""
    random = ground.random
    whole = samples.pictures()
    name = random.choice([name for name in ("indexed.png", "rgb.png", "rgb.png", "rgb.tif") if name in whole])
    data, promised = whole[name], None
    kind = random.random()
    if kind < 0.4 and name.endswith(".png"):
        promised = _some_texts(random)
        data = _with_texts(data, promised, random)
    elif kind < 0.7 and name.endswith(".png"):
        data = _rearranged(data, random)
    else:
        data = damaged(data, random)
    path = ground.here / name
    path.write_bytes(data)
    for read, key, parse in (
        (loading.read_job, "mandelcl", _job),
        (_colouring, "mandelcl-colouring", Colouring.from_json),
    ):
        found, refused = _read(read, path)
        ground.accepted |= found is not None
        if promised is not None:
            require_promised(found, refused, promised.get(key), parse)
    require(path.read_bytes() == data, "the file was changed by reading it")
    if random.random() < 0.1:
        ground.command("locate", "--like", name, "--iterations", "2", "--quiet")


def _colouring(path: Path) -> Colouring | None:
    """Return the colouring that `render --like` would take."""
    text = loading.read_colouring(path)
    return None if text is None else Colouring.from_json(text)


def _read(read: Any, path: Path) -> tuple[Any, str]:
    try:
        return read(path), ""
    except (FileError, InvalidInputError) as error:
        line = str(error)
        require_line(f"mandelcl: {line}")
        return None, line


def _job(text: str) -> Job:
    job = Job.from_json(text)
    require_known(job.number)
    return job


def require_promised(found: Any, refused: str, text: str | None, parse: Any) -> None:
    """Require that what was read of a picture is what its text says, or that both are refused."""
    if text is None:
        require(found is None, "something was read that is not there")
        return
    try:
        expected = parse(text)
    except InvalidInputError:
        require(refused, "a text of nonsense was read")
        return
    require(found == expected or "longer than" in refused or "more than" in refused, f"{text!r} is not read: {refused}")


def _some_texts(random: Random) -> dict[str, str]:
    """Return texts of ASCII for a picture: a changed job, a changed colouring, and others."""
    job, colouring = (json.loads(random.choice(each)) for each in (samples.job_texts(), samples.colouring_texts()))
    found = {}
    if random.random() < 0.9:
        found["mandelcl"] = as_json(changed(job, random) if random.random() < 0.7 else job, random)
    if random.random() < 0.6:
        found["mandelcl-colouring"] = as_json(changed(colouring, random, ["ice", 1.5, "white"]), random)
    if random.random() < 0.3:
        found["Comment"] = changed_text("nothing to do with it", random)
    return {name: text.encode("ascii", "replace").decode().replace("\0", "?") for name, text in found.items()}


def chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield kind and content of the chunks of a whole PNG."""
    at = len(_SIGNATURE)
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        yield kind, data[at + 8 : at + 8 + size]
        at += 12 + size


def _joined(parts: list[tuple[bytes, bytes]]) -> bytes:
    packed = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    ]
    return _SIGNATURE + b"".join(packed)


def _text_chunk(name: str, text: str, random: Random) -> tuple[bytes, bytes]:
    kind, key, data = random.choice(_KINDS), name.encode() + b"\0", text.encode()
    if kind == b"tEXt":
        return kind, key + data
    if kind == b"zTXt":
        return kind, key + b"\0" + zlib.compress(data)
    packed = random.random() < 0.5
    return kind, key + bytes([packed, 0]) + b"en\0\0" + (zlib.compress(data) if packed else data)


def _with_texts(data: bytes, found: dict[str, str], random: Random) -> bytes:
    """Return a PNG with these texts in place of its own, in any of the forms that there are."""
    parts = [(kind, content) for kind, content in chunks(data) if kind not in _KINDS]
    for name, text in found.items():
        at = random.choice((1, len(parts) - 1))
        parts.insert(at, _text_chunk(name, text, random))
    return _joined(parts)


def _rearranged(data: bytes, random: Random) -> bytes:
    """Return a PNG with right checksums whose chunks are damaged, doubled, left out or exchanged."""
    parts = list(chunks(data))
    for _ in range(random.choice((1, 2, 4))):
        at = random.randrange(len(parts) + 1)
        kind, content = parts[at % len(parts)]
        replacement = random.choice(
            (
                [],
                [(kind, content)] * 2,
                [(kind, damaged(content, random))],
                [(random.choice((*_KINDS, b"IDAT", b"IEND", b"IHDR", random.randbytes(4))), content)],
                [(random.choice(_KINDS), b"mandelcl\0" + random.randbytes(random.choice((0, 5, 99))))],
                [(b"zTXt", b"mandelcl\0\0" + zlib.compress(bytes(random.choice((1 << 20, 1 << 22)))))],
            )
        )
        parts[at : at + 1] = replacement
        parts = parts or [(b"IEND", b"")]
    return _joined(parts)


def comparisons(ground: Ground) -> None:
    """Check `compare` of two pictures that are alike but for a change, or that are damaged."""
    random = ground.random
    names = [f"{which}.{random.choice(('png', 'ppm'))}" for which in "ab"]
    pixels = _pixels(random)
    pictures = [_encoded(pixels, names[0], random), _encoded(_touched(pixels, random), names[1], random)]
    if random.random() < 0.4:
        at = random.randrange(2)
        pictures[at] = damaged(pictures[at], random)
    for name, data in zip(names, pictures, strict=True):
        (ground.here / name).write_bytes(data)
    drawing = random.random() < 0.2
    ground.ready()
    outcome = ground.call("compare", *names, *(["-o", "diff.png"] if drawing else []))
    require_compared(outcome, names)
    ground.require_untouched(*(["diff.png"] if drawing and outcome.code < 2 else []))
    ground.accepted = outcome.code < 2


def require_compared(outcome: Outcome, names: list[str]) -> None:
    """Require that the exit code of `compare` is true: 0 only for pictures that are alike in all that they hold."""
    if outcome.code == 2:
        require_reported(outcome)
        return
    require(outcome.code in (0, 1) and not outcome.err, f"exit code {outcome.code}: {outcome.err!r}")
    one, other = (_seen(name) for name in names)
    require(one is not None and other is not None, f"what Pillow cannot read was compared: {outcome.out}")
    same = np.array_equal(one, other)
    require(same == (outcome.code == 0), f"{outcome.out!r}, and the pictures are {'the same' if same else 'different'}")
    if not same:
        differing = int((one != other).any(axis=2).sum())
        require(f" {differing} of " in outcome.out, f"{differing} pixels differ: {outcome.out}")


def _seen(name: str) -> Any:
    """Return what Pillow sees, 16 bits a channel and with alpha, so that nothing that differs is lost."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(name) as image:
                image.load()
                if image.mode.startswith("I"):
                    grey = np.asarray(image, np.int64)
                    return np.stack([grey] * 3 + [np.full_like(grey, 255 * 257)], axis=2)
                return np.asarray(image.convert("RGBA"), np.int64) * 257
    except (OSError, SyntaxError, ValueError):
        return None


def _pixels(random: Random) -> Any:
    chance = np.random.default_rng(random.getrandbits(32))
    shape = random.choice(((1, 1), (5, 7), (20, 30)))
    return chance.integers(0, random.choice((2, 9, 256)), (*shape, 3), np.uint8, endpoint=False)


def _touched(pixels: Any, random: Random) -> Any:
    copy = pixels.copy()
    for _ in range(random.choice((0, 0, 1, 3))):
        at = random.randrange(copy.shape[0]), random.randrange(copy.shape[1]), random.randrange(3)
        copy[at] ^= np.uint8(1 << random.randrange(8))
    return copy if random.random() < 0.95 else copy[:, : random.randrange(copy.shape[1]) + 1]


def _encoded(pixels: Any, name: str, random: Random) -> bytes:
    """Return a picture in some mode that its format has; the mode may lose what the pixels are."""
    image = Image.fromarray(pixels)
    file = io.BytesIO()
    mode = random.choice(("RGB", "RGB", "RGB", "P", "L", "1", "RGBA", "LA", "I;16", "P transparent"))
    if name.endswith(".ppm"):
        if random.random() < 0.1:
            height, width, _ = pixels.shape
            return b"P6 %d %d 65535\n" % (width, height) + bytes(pixels.astype(">u2").tobytes())
        image.convert(mode if mode in ("RGB", "L", "1") else "RGB").save(file, "ppm")
        return file.getvalue()
    if mode == "I;16":
        image = Image.fromarray(pixels[..., 0].astype(np.uint16) * 7 + pixels[..., 1])
    elif mode != "P transparent":
        image = image.convert(mode)
    else:
        image = image.convert("P")
    transparent = {"transparency": 1} if mode == "P transparent" else {}
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", "nothing")
    image.save(file, "png", pnginfo=info, **transparent)
    return file.getvalue()
