"""Files of other programs: places, maps and OpenEXR, damaged. Refused in a line, or something of a sensible size."""

import struct
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import MappingProxyType

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.colour.colour import Colouring, find_palette
from mandelcl.colour.foreign import read_colouring
from mandelcl.files import loading, output, places
from mandelcl.files.foreign import Foreign
from tests.fuzz import samples
from tests.fuzz.ground import Ground
from tests.fuzz.libraries import writable
from tests.fuzz.mutations import changed_text, damaged
from tests.fuzz.oracle import require, require_line

_FIELDS = (".exr", ".kfb")


def files(ground: Ground) -> None:
    """Check a damaged file: its place, its colours and its field are read, or refused in a line; it stays as it is."""
    random = ground.random
    name = random.choice(list(_whole()))
    data, path = _changed(name, _whole()[name], random), ground.here / name
    path.write_bytes(data)
    for read in (places.read_place, read_colouring, *([loading.read_foreign] if name.endswith(_FIELDS) else [])):
        try:
            found = read(path)
        except (FileError, InvalidInputError) as error:
            require_line(f"mandelcl: {error}")
            continue
        ground.accepted |= read is not read_colouring
        if isinstance(found, Foreign):
            require(found.field.counts.size <= 1100 * len(data), "a field that is larger than its file can be")
            require(int(found.field.counts.max()) <= found.field.job.iterations, "counts beyond the iteration limit")
    require(path.read_bytes() == data, "the file was changed by reading it")
    if random.random() < 0.1:
        result = random.choice(("new.kfr", "new.toml", "new.npz"))
        ground.command("convert", name, result, outputs=[result])


def _changed(name: str, data: bytes, random: Random) -> bytes:
    if name.endswith(_FIELDS) or random.random() < 0.4:
        return damaged(data, random)
    return changed_text(data.decode(), random).encode("utf-8", "replace")


@cache
def _whole() -> Mapping[str, bytes]:
    """Return whole files by name."""
    field = samples.field_of(samples.jobs()[1])
    exr = {}
    with TemporaryDirectory() as folder:
        for suffix in writable([".exr"]):
            path = Path(folder, f"a{suffix}")
            output.write(path, field, Colouring(find_palette("ice")).picture(field))
            exr[path.name] = path.read_bytes()
    pixels = struct.pack("<6i", 9, 8, 60, 10, 20, -1)
    kfb = b"KFB" + struct.pack("<ii", 3, 2) + pixels + struct.pack("<ii", 1, 1) + b"\1\2\3" + struct.pack("<i", 60)
    return MappingProxyType(
        {
            **samples.places(),
            **exr,
            "a.kfb": kfb + struct.pack("<6f", *(k / 8 for k in range(6))),
        }
    )
