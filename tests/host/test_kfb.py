"""Maps of Kalles Fraktaler: each value at its pixel, and damaged files refused."""

import random
import struct
from pathlib import Path

import numpy as np
import pytest

from mandelcl.base.errors import FileError, InvalidInputError, MandelclError
from mandelcl.files import loading
from tests.host.memory import allocating

WIDTH, HEIGHT, ITERATIONS = 7, 4, 300
KFR = "Re: -0.75\r\nIm: 0.1\r\nZoom: 1.5E3\r\nIterations: 300\r\nImagPointsUp: 1\r\n"


def a_map(width: int = WIDTH, height: int = HEIGHT, distances: bool = False) -> bytes:
    """Return a map whose pixel (x, y) has n = 100 + 10·x + y and t = (x + y)/16; that at (0, 1) is inside."""
    columns = [(x, y) for x in range(width) for y in range(height)]
    counts = [ITERATIONS if (x, y) == (0, 1) else 100 + 10 * x + y for x, y in columns]
    transitions = [(x + y) / 16 for x, y in columns]
    parts = [
        b"KFB" + struct.pack("<ii", width, height) + struct.pack(f"<{len(columns)}i", *counts),
        struct.pack("<ii", 3, 2) + bytes([1, 2, 3, 4, 5, 6]) + struct.pack("<i", ITERATIONS),
        struct.pack(f"<{len(columns)}f", *transitions) * (1 + distances),
    ]
    return b"".join(parts)


def put(folder: Path, data: bytes, kfr: str | None = KFR) -> Path:
    path = folder / "a.kfb"
    path.write_bytes(data)
    if kfr is not None:
        path.with_suffix(".kfr").write_text(kfr)
    return path


@pytest.mark.parametrize(("radius", "shift"), [("", np.log2(np.log2(10_000.0))), ("SmoothMethod: 1\n", 0.0)])
def test_each_value_is_at_its_pixel(radius: str, shift: float, tmp_path: Path) -> None:
    found = loading.read_foreign(put(tmp_path, a_map(), KFR + radius))
    field, (y, x) = found.field, np.indices((HEIGHT, WIDTH))
    assert found.placed
    assert not found.notes
    assert field.job.iterations == ITERATIONS
    assert field.job.view.point(3, 2)[0] == -0.75
    assert np.argwhere(field.inside).tolist() == [[1, 0]]
    assert field.smooth is not None
    expected = 100 + 10 * x + y + 1 - (x + y) / 16 - shift
    continuous = field.counts + field.smooth.astype(np.float64)
    np.testing.assert_allclose(continuous[~field.inside], expected[~field.inside], rtol=0, atol=1e-6)


def test_kfb_import_reports_what_it_drops(tmp_path: Path) -> None:
    found = loading.read_foreign(put(tmp_path, a_map(distances=True), None))
    assert not found.placed
    assert [note.split(":")[0] for note in found.notes] == [
        "its distances are left out because they have no direction",
        "its location is left out",
    ]
    data = bytearray(a_map())
    struct.pack_into("<i", data, 11 + 4 * HEIGHT, -1)  # that at (1, 0)
    struct.pack_into("<f", data, len(data) - 4, -0.5)  # that at the lower right
    found = loading.read_foreign(put(tmp_path, bytes(data)))
    assert found.notes == ("2 pixels were not computed and count as inside",)
    assert np.argwhere(found.field.inside).tolist() == [[0, 1], [1, 0], [3, 6]]


def test_older_kinds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="older format"):
        loading.read_foreign(put(tmp_path, b"KFC" + a_map()[3:]))


def test_damaged_files_end_in_one_line(tmp_path: Path) -> None:
    whole, rng = a_map(30, 20), random.Random(2)
    refused: list[str] = []
    for case in range(500):
        data = bytearray(whole[: rng.randrange(len(whole))] if case % 2 else whole)
        for _ in range(0 if case % 2 else rng.randrange(1, 4)):
            data[rng.randrange(40 if case % 4 else len(data))] ^= 1 << rng.randrange(8)
        try:
            found = loading.read_foreign(put(tmp_path, bytes(data), None)).field
            assert found.counts.shape == (20, 30)
        except (FileError, InvalidInputError) as error:
            refused.append(str(error))
    assert len(refused) > 250
    assert not [line for line in refused if "\n" in line or len(line) > 300 + len(str(tmp_path))]


@pytest.mark.parametrize(("width", "height"), [(1 << 30, 1), (30_000, 30_000), (-1, -1), (0, 5), ((1 << 31) - 1, 7)])
def test_a_size_that_the_file_does_not_hold_allocates_nothing(width: int, height: int, tmp_path: Path) -> None:
    path = put(tmp_path, b"KFB" + struct.pack("<ii", width, height) + a_map()[11:])
    with allocating(1 << 22), pytest.raises(MandelclError):
        loading.read_foreign(path)
