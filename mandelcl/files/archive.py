"""The `.npz` file of a field: its planes by name (`counts`, uint32 or uint64; `smooth`, float32 …) and `job` (JSON).

`numpy.load` reads it. With the same installation, the same field always gives the same bytes: they do not depend on the
time or the number of threads.
"""

import io
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.base.machine import available_bytes
from mandelcl.core.field import Field, RowSource
from mandelcl.core.job import Job
from mandelcl.core.planes import COUNTS, PLANES, dtype_of
from mandelcl.core.report import Stopwatch
from mandelcl.files import deflate
from mandelcl.files.strips import in_order, strip_rows
from mandelcl.files.zip_writer import Unpacked, ZipWriter

_T = TypeVar("_T")
_LONGEST_JOB = 1 << 20
_LONGEST_HEADER = 1024
_TEXT = re.compile(r"<U[1-9]\d*")
# A Python dictionary exactly as numpy and mandelcl write it: for others, Python's parser may print warnings.
_HEADER = re.compile(
    rb"\{'descr': '([^']*)', 'fortran_order': False, 'shape': \(((?:\d{1,10}(?:, ?|(?=\))))*)\),? *\} *\n"
)
_MAGIC = b"\x93NUMPY\x01\x00"
_BLOCK_BYTES = 1 << 22
_BLOCK_VALUES = 1 << 20
_SPOOL_BYTES = 1 << 26


def write_archive(file: BinaryIO, source: RowSource, watch: Stopwatch, compression: str = deflate.FAST) -> None:
    """Write the field that the rows make up, reading each row once. `file` must be seekable.

    Planes are packed strip by strip, in several threads.
    """
    first, *others = source.job.planes
    with ZipWriter(file) as archive, ExitStack() as stack:
        # A zip file holds one member after the other, so all but the first are buffered in separate files.
        spool = partial(tempfile.SpooledTemporaryFile, _SPOOL_BYTES, dir=_folder(file))
        later = {name: (stack.enter_context(spool()), Unpacked()) for name in others}
        text = _npy(np.array(source.job.to_json(), dtype="<U"))
        unpacked = Unpacked()
        with archive.member("job.npy", unpacked):
            archive.put(_packed(deflate.of_words(compression), [text], last=True))
            unpacked.add(text)
        unpacked = Unpacked()
        with archive.member(f"{first}.npy", unpacked):
            for strip in _strips(source, watch, compression):
                for name, (data, packed) in strip.items():
                    waiting, counted = later.get(name, (None, unpacked))
                    (waiting.write if waiting else archive.put)(packed)
                    for part in data:
                        counted.add(part)
        for name, (waiting, counted) in later.items():
            waiting.seek(0)
            with archive.member(f"{name}.npy", counted):
                while block := waiting.read(_BLOCK_BYTES):
                    archive.put(block)


_Strip: TypeAlias = Mapping[str, tuple[Sequence[bytes | memoryview], bytes]]


def _strips(source: RowSource, watch: Stopwatch, compression: str) -> Iterator[_Strip]:
    """Yield strips of rows, top to bottom: for each plane the raw bytes of its array, and the packed bytes."""
    view = source.job.view
    rows = strip_rows(view.width)

    def pack(top: int) -> _Strip:
        bottom = min(top + rows, view.height)
        planes = source.rows(top, bottom)
        strip = {}
        with watch.of("encode"):
            for name in source.job.planes:
                values = np.ascontiguousarray(planes[name], dtype=dtype_of(name, source.job.counts))
                head = [] if top else [_npy_header(values.dtype.str, (view.height, view.width))]
                data: list[bytes | memoryview] = [*head, values.view(np.uint8).data.cast("B")]
                strip[name] = data, _packed(deflate.of_words(compression), data, bottom == view.height)
        return strip

    return in_order(pack, range(0, view.height, rows))


def _packed(stream: deflate.Stream, parts: Sequence[bytes | memoryview], last: bool) -> bytes:
    """Return bytes as raw deflate that ends on a byte boundary; the last part ends the stream."""
    packed = [stream.compress(part) for part in parts]
    return b"".join([*packed, stream.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)])


def is_archive(file: BinaryIO) -> bool:
    """Return whether the file starts like a zip file. The file's position is its start, before and after."""
    magic = file.read(4)
    file.seek(0)
    return magic == b"PK\x03\x04"


def read_job(file: BinaryIO) -> Job:
    """Return the job in a field file. Raises FileError or InvalidInputError."""
    return _read(file, _job)


def read_archive(file: BinaryIO) -> Field:
    """Return the field. Raises FileError, or InvalidInputError for a bad job.

    Sizes in the file are not trusted: the job determines the size of each member, and no more is read.
    """
    return _read(file, _field)


def _read(file: BinaryIO, part: Callable[[zipfile.ZipFile], _T]) -> _T:
    if not is_archive(file):
        raise FileError("not a mandelcl field (.npz)")
    try:
        with zipfile.ZipFile(file) as archive:
            return part(archive)
    except (FileError, InvalidInputError):
        raise
    except (
        EOFError, LookupError, NotImplementedError, RuntimeError, SyntaxError, TypeError, ValueError,
        struct.error, zipfile.BadZipFile, zlib.error,
    ) as error:  # fmt: skip
        raise FileError(
            f"a damaged field, or one that mandelcl did not write ({type(error).__name__}: {error})"
        ) from error


def _job(archive: zipfile.ZipFile) -> Job:
    with _opened(archive, "job") as member:
        descr, shape = _read_header(member)
        size = archive.getinfo("job.npy").file_size
        if shape != () or not _TEXT.fullmatch(descr) or size > _LONGEST_JOB:
            raise FileError("the field's job is not a text")
        # Python's own codec: numpy accepts code points that are not characters, and Python then fails on the text.
        return Job.from_json(member.read(_LONGEST_JOB).decode("utf-32-le").rstrip("\0"))


def _field(archive: zipfile.ZipFile) -> Field:
    job = _job(archive)
    held = [name for name in PLANES if f"{name}.npy" in archive.namelist()]
    if tuple(held) != job.planes:
        raise FileError(f"the field has {', '.join(held) or 'no plane'}, but its job has {', '.join(job.planes)}")
    return Field(job, {name: _read_array(archive, name, dtype_of(name, job.counts).str, job) for name in job.planes})


def _check(name: str, values: npt.NDArray[Any], job: Job) -> None:
    """Raise FileError for values that a plane of the job cannot have."""
    least = 1 if job.formula.begins_inside else 0
    if name == COUNTS.name and (values.min() < least or values.max() > job.iterations):
        raise FileError(f"the field has counts outside {least} to {job.iterations}, its iteration limit")
    reals = values.view(np.dtype(f"<f{values.itemsize // 2}")) if values.dtype.kind == "c" else values
    if reals.dtype.kind == "f" and not (np.isfinite(reals.min()) and np.isfinite(reals.max())):
        raise FileError(f"the field's {name} has values that are not finite")


def _folder(file: BinaryIO) -> str | None:
    """Return the folder of an open file, on the same disk; None if the file has no name."""
    name = getattr(file, "name", None)
    return str(Path(name).parent) if isinstance(name, str | Path) else None


def _opened(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open a member for reading. Refuse compression methods that mandelcl and numpy do not use."""
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise FileError(f"the field's {name} has a compression method that .npz files do not use")
    return archive.open(info)


def _npy(array: npt.NDArray[Any]) -> bytes:
    """Return an array in numpy's own file format, version 1.0."""
    return _npy_header(array.dtype.str, array.shape) + array.tobytes()


def _npy_header(descr: str, shape: tuple[int, ...]) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
    return file.getvalue()


def _read_header(member: Any) -> tuple[str, tuple[int, ...]]:
    """Return (dtype, shape) of a .npy member, version 1.0. numpy's own reader prints warnings for invalid data."""
    magic = member.read(10)
    size = int.from_bytes(magic[8:], "little")
    if magic[:8] != _MAGIC or size > _LONGEST_HEADER:
        raise FileError("a member of the field is not an array of version 1.0")
    header = _HEADER.fullmatch(member.read(size))
    if header is None:
        raise FileError("a member of the field is not a plain array")
    descr, shape = (part.decode("latin-1") for part in header.groups())
    return descr, tuple(int(side) for side in shape.split(",") if side.strip())


def _read_array(archive: zipfile.ZipFile, name: str, dtype: str, job: Job) -> npt.NDArray[Any]:
    """Return the array of that name, which must have this dtype and the shape of the job's view.

    Values are checked while they are read, so that a file with invalid values is refused early. Raises MemoryError if
    the array does not fit into memory.
    """
    expected = (job.view.height, job.view.width)
    info = archive.getinfo(f"{name}.npy")
    with _opened(archive, name) as member:
        descr, shape = _read_header(member)
        if descr != dtype or shape != expected:
            raise FileError(f"{name} is {descr} {shape}, but its job needs {dtype} {expected}")
        if info.file_size < np.dtype(dtype).itemsize * job.view.pixels:
            raise FileError(f"{name} is cut off")
        if np.dtype(dtype).itemsize * job.view.pixels > available_bytes():
            raise MemoryError
        array = np.empty(expected, dtype=dtype)
        values = array.reshape(-1)
        for start in range(0, values.size, _BLOCK_VALUES):
            block = values[start : start + _BLOCK_VALUES]
            data = member.read(block.nbytes)
            if len(data) != block.nbytes:
                raise FileError(f"{name} is cut off")
            block[:] = np.frombuffer(data, dtype)
            _check(name, block, job)
        if member.read(1):  # this also makes zipfile compare the checksum
            raise FileError(f"{name} is longer than its job's size")
    return array.astype(array.dtype.newbyteorder("="), copy=False)
