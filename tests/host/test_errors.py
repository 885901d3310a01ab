"""What errors carry beside their one line."""

import pickle
from pathlib import Path
from typing import Any

import pytest

from mandelcl.base.errors import (
    BuildError,
    CancelledError,
    DeviceError,
    FileError,
    InvalidInputError,
    MandelclError,
    NoDeviceError,
    remark,
    require_type,
)
from mandelcl.core.job import Job
from mandelcl.files.loading import read_field, read_job
from mandelcl.files.output import check_writable
from mandelcl.files.paths import one_line


def test_cancellation_is_not_a_failure() -> None:
    """`except MandelclError` around a render must not take an interrupt for a device that failed."""
    assert not issubclass(CancelledError, MandelclError)
    assert issubclass(CancelledError, Exception)
    for kind in (InvalidInputError, DeviceError, NoDeviceError, BuildError, FileError):
        assert issubclass(kind, MandelclError)


def test_errors_carry_their_subject() -> None:
    assert (str(DeviceError("it fails")), DeviceError("it fails").device) == ("it fails", "")
    error = BuildError("0:0 refuses", "line 7: error", "0:0 GPU (Maker)")
    assert (str(error), error.log, error.device) == ("0:0 refuses", "line 7: error", "0:0 GPU (Maker)")
    assert FileError("no", "a.png").path == "a.png"
    assert NoDeviceError("none").device == ""
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.log, again.device) == (str(error), error.log, error.device)


def test_error_remark_changes_only_the_message() -> None:
    def fail() -> None:
        raise BuildError("refused", "line 7", "0:0") from OSError("disk")

    with pytest.raises(BuildError) as caught:
        fail()
    error, stack = caught.value, caught.value.__traceback__
    remark(error, "half of it is kept")
    assert str(error) == "refused; half of it is kept"
    assert (error.log, error.device, error.__traceback__) == ("line 7", "0:0", stack)
    assert isinstance(error.__cause__, OSError)
    remark(error, "more")
    assert str(error) == "refused; half of it is kept; more"


@pytest.mark.parametrize("path", ["a.png", Path("a.png")])
@pytest.mark.parametrize(
    "error", [(OSError, 28, "No space left"), (MemoryError,), (InvalidInputError, "nonsense"), (FileError, "damaged")]
)
def test_file_errors_name_the_file(path: str | Path, error: tuple[Any, ...]) -> None:
    kind, *arguments = error
    with pytest.raises(FileError, match=r"^cannot write a\.png: ") as caught, one_line("cannot write", path):
        raise kind(*arguments)
    assert caught.value.path == path


def test_innermost_path_is_reported() -> None:
    with pytest.raises(FileError, match=r"^cannot use s: band 3 is damaged$") as caught, one_line("cannot use", "s"):
        raise FileError("band 3 is damaged", "s/band-3")
    assert caught.value.path == "s/band-3"


def test_paths_of_readers_and_writers(tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    for path in (tmp_path / "folder.png", str(tmp_path / "none" / "a.png"), tmp_path / "a.gif"):
        with pytest.raises(FileError) as caught:
            check_writable(path)
        assert caught.value.path == path
    for read in (read_field, read_job):
        with pytest.raises(FileError) as caught:
            read(tmp_path / "missing.npz")
        assert caught.value.path == tmp_path / "missing.npz"


def test_wrong_type_is_one_line() -> None:
    require_type(None, (Job, type(None)), "the job")
    with pytest.raises(InvalidInputError, match=r"^the job must be of type Job, not str$"):
        require_type("job", Job, "the job")
    with pytest.raises(InvalidInputError, match=r"^the path must be of type str or Path or None, not int$"):
        require_type(3, (str, Path, type(None)), "the path")


@pytest.mark.parametrize("text", ["\x1b[31mred", "\udc80", "two\nlines", "x" * 9000, "\u202e", "\0"])
def test_quoted_text_stays_one_line(text: str) -> None:
    for error in (InvalidInputError(f"no {text}"), FileError(text, text), DeviceError(text, "a")):
        remark(error, text)
        assert str(error).isprintable()
        assert len(str(error)) < 290
    with pytest.raises(FileError) as caught, one_line("cannot read", f"{text}.npz"):
        raise FileError(f"cannot read {text}.npz: too long")
    assert str(caught.value).count("cannot read") == 1, "it is said once"
