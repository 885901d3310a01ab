"""The self-test tells the truth: it goes red when arithmetic is wrong, and nothing in the cache can turn it."""

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mandelcl.base.errors import BuildError, DeviceError
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import FLOAT, NumberFormat, ieee_answers
from mandelcl.engine import choose, known_answers, microbenchmarks, rate, selftest
from mandelcl.engine.program import Program
from mandelcl.engine.variant import default_variant
from mandelcl.files import cache
from mandelcl.formulas import FORMULAS, MANDELBROT, BurningShip
from mandelcl.opencl import texts
from mandelcl.opencl.device import Device
from mandelcl.opencl.programs import kernel_of
from mandelcl.rendering.render import render
from tests.device import views
from tests.device.targets import Target, devices, expected

# How a build can go wrong: is contraction allowed by the source, and further build options. Some compilers honour
# the pragma above the options, so an option alone does not always do harm.
RECIPES = {
    "relaxed": (False, ("-cl-fast-relaxed-math",)),
    "mad": (False, ("-cl-mad-enable",)),
    "contracted": (True, ()),
    "contracted and relaxed": (True, ("-cl-fast-relaxed-math",)),
}
_assemble = texts.assemble

_PROBE = """
kernel void probe(global const uint *in, global uint *out) {
  uint_lanes words[3 * NUMBER_WORDS];
  for (uint w = 0; w < 3 * NUMBER_WORDS; w++) words[w] = (uint_lanes)(in[w]);
  const number_real a = number_unpack_real(words), b = number_unpack_real(words + NUMBER_WORDS);
  const number_real sum = a * b + number_unpack_real(words + 2 * NUMBER_WORDS);
  for (uint w = 0; w < NUMBER_WORDS; w++) {
    uint lane[LANES];
    lanes_store(number_pack_real(sum, w), lane);
    for (uint l = 0; l < LANES; l++) out[w * LANES + l] = lane[l];
  }
}
"""


def contracting(parts: Iterable[str], defines: Mapping[str, int]) -> str:
    """Assemble as ever, but allow contraction."""
    return _allow(_assemble(parts, defines))


def _allow(text: str) -> str:
    assert text.count("FP_CONTRACT OFF") == 1
    return text.replace("FP_CONTRACT OFF", "FP_CONTRACT ON")


def contracts(target: Target, allowed: bool, options: tuple[str, ...]) -> bool:
    """Return whether a·b + c comes out fused, by a kernel of this test's own: a·b rounds to −c."""
    device, number = target.device, target.number
    defines = number.defines(target.rounding, False) | {"LANES": default_variant(device, number).lanes}
    defines["SMOOTH_RADIUS_SQUARED"] = 4
    text = _assemble(number.parts(False), defines) + _PROBE
    dtype = np.float64 if number.needs_fp64 else np.float32
    a = dtype(1) + np.finfo(dtype).eps
    words = np.array([a, a, -(a * a)], dtype).view(np.uint32)
    out = np.zeros(default_variant(device, number).lanes * number.words, np.uint32)
    given, taken = device.upload(words), device.allocate(out.nbytes)
    program = device.build(_allow(text) if allowed else text, options)
    device.launch(kernel_of(program, "probe"), (1,), (1,), given, taken)
    device.wait(device.read(taken, out))
    return bool(out.any())


@pytest.mark.parametrize("recipe", RECIPES)
def test_contraction_is_detected(target: Target, recipe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed, options = RECIPES[recipe]
    if not contracts(target, allowed, options):
        pytest.skip(f"this compiler does not contract when built {recipe}")
    if allowed:
        monkeypatch.setattr(texts, "assemble", contracting)
    found = selftest.result(target.device, target.number, target.rounding, options=options)
    assert not found.passed
    assert found.reason.startswith("wrong ")
    monkeypatch.undo()
    assert selftest.result(target.device, target.number, target.rounding).passed, "a red verdict was remembered"


def test_some_device_contracts_multiply_add(request: pytest.FixtureRequest) -> None:
    """Else the test above would show nothing. Each recipe that allows contraction must do harm somewhere."""
    every = [Target(param.values[0], FLOAT, "separate") for param in devices()]  # type: ignore[arg-type]
    for recipe, (allowed, options) in RECIPES.items():
        if allowed and not any(contracts(target, allowed, options) for target in every):
            assert request.config.getoption("--implementations") < 2, f"no compiler contracts when built {recipe}"
            pytest.skip(f"no compiler here contracts when built {recipe}")


@pytest.mark.full
def test_every_formula_passes(device: Device) -> None:
    """A formula that fails is refused there: at depth, each needs float or double with fma."""
    for formula in FORMULAS.values():
        assert not selftest.result(device, FLOAT, "fused", formula=formula).reason


@pytest.mark.parametrize("what", ["integers", "short_products", "shapes", "steps", "roots"])
def test_wrong_answer_is_detected(
    target: Target, what: str, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del fresh_cache
    if what == "roots" and target.rounding != "fused":
        pytest.skip("no roots are taken in this rounding")
    home = known_answers if what in ("integers", "short_products") else ieee_answers
    right = getattr(home, what)
    monkeypatch.setattr(selftest, "_SEEN", {})

    def wrong(*arguments: Any) -> tuple[Words, Words]:
        inputs, answers = right(*arguments)
        answers[target.number.words - 1, 3] ^= 0x3F800000  # makes no denormal, which might be excused
        return inputs, answers

    monkeypatch.setattr(home, what, wrong)
    found = selftest.result(target.device, target.number, target.rounding)
    assert not found.passed
    assert f"word {target.number.words - 1} is" in found.reason
    with pytest.raises(DeviceError, match="self-test failed: wrong"):
        render(target.job(views.whole(3, 2), 5), target.device)


def test_failed_build_is_retried_later(device: Device, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(self: Device, text: str, options: tuple[str, ...] = ()) -> None:  # noqa: ARG001 - as Device has it
        raise BuildError(f"{self.label} cannot build a kernel: unknown target CPU 'generic'", "log")

    with monkeypatch.context() as patch:
        patch.setattr(Device, "build", build)
        selftest._SEEN.clear()
        device.programs.clear()
        found = selftest.result(device, FLOAT, "separate")
        assert (found.passed, found.speed) == (False, 0.0)
        assert "unknown target CPU 'generic'" in found.reason
        assert not selftest.summary(device).passed
        assert not list(fresh_cache.glob("selftest/*"))
    assert selftest.result(device, FLOAT, "separate").passed


@pytest.mark.full
def test_whether_fma_is_software_is_measured_once(
    device: Device, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It decides bytes, so what was found first holds, for other formulas and in other processes, until it is lost."""
    del fresh_cache
    measured: list[str] = []

    def measure(_device: Device, _program: object, number: NumberFormat, _lanes: int) -> bool:
        measured.append(number.name)
        return True

    monkeypatch.setattr(microbenchmarks, "slow_fma", measure)
    monkeypatch.setattr(selftest, "_SLOW_FMA", {})
    job, key = Job(views.whole(9, 6), 20), selftest._fma_key(device, FLOAT)
    assert selftest.known_slow_fma(device, FLOAT) is None
    for formula in (MANDELBROT, BurningShip()):
        assert choose.fastest(replace(job, formula=formula), [device]).job.rounding == "separate"
        selftest._SLOW_FMA.clear()  # as in a new process
    assert selftest.summary(device).fma == "slow"
    assert measured == ["float"]
    selftest._SLOW_FMA.clear()
    cache.write("selftest", key, b"12")
    assert selftest.slow_fma(device, FLOAT)
    assert measured == ["float", "float"]
    assert cache.read("selftest", key) == b"true"


def test_measurement_of_another_process_is_reused(
    device: Device, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del fresh_cache

    def measure(*_: object) -> bool:
        cache.write("selftest", selftest._fma_key(device, FLOAT), b"false")
        return True

    monkeypatch.setattr(microbenchmarks, "slow_fma", measure)
    monkeypatch.setattr(selftest, "_SLOW_FMA", {})
    assert not selftest.slow_fma(device, FLOAT)


def test_a_failing_device_does_not_stop_the_others(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Device):
        pass

    broken, job = Broken("9:9", device.handle), Job(views.whole(9, 6), 20, number="float", rounding="separate")
    own = selftest.result

    def result(one: Device, number: NumberFormat, rounding: str, *rest: Any, **more: Any) -> selftest.SelfTestResult:
        if isinstance(one, Broken):
            return selftest.SelfTestResult(False, "wrong on purpose", False, 0.0, 0)
        return own(one, number, rounding, *rest, **more)

    monkeypatch.setattr(selftest, "result", result)
    assert choose.fastest(job, [broken, device]).device is device
    with pytest.raises(DeviceError, match=r"9:9.*wrong on purpose"):
        choose.fastest(job, [broken])
    assert choose.fastest(job, [broken], self_test=False).device is broken


def test_self_test_in_another_process_gives_the_same_verdict(device: Device) -> None:
    """Drivers that may end the process are tested in another one first."""
    assert selftest._rehearsed(device, FLOAT, "separate", MANDELBROT) == ""


@pytest.mark.full
@pytest.mark.one_device
def test_a_rehearsal_runs_no_file_of_the_current_folder(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "numpy", "queue"):
        (tmp_path / f"{name}.py").write_text(f"from pathlib import Path; Path({str(tmp_path / 'run')!r}).touch()")
    monkeypatch.chdir(tmp_path)
    assert selftest._rehearsed(device, FLOAT, "separate", MANDELBROT) == ""
    assert not (tmp_path / "run").exists()


# The cache


def _render(device: Device) -> None:
    selftest._SEEN.clear()  # as in a new process
    rate._known.clear()
    device.programs.clear()
    job = Job(views.whole(37, 23), 60, number="float", rounding="separate")
    field, _ = render(job, device)
    np.testing.assert_array_equal(field.counts, expected(job))


def _entries(folder: Path) -> list[Path]:
    return [path for kind in ("selftest", "rates", "binaries") for path in folder.glob(f"{kind}/*")]


def test_second_run_builds_and_tests_nothing(
    device: Device, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _render(device)
    assert len(_entries(fresh_cache)) >= 2
    monkeypatch.setattr(selftest, "_run", None)
    if list(fresh_cache.glob("binaries/*")):
        monkeypatch.setattr(Device, "build", None)
    _render(device)


@pytest.mark.parametrize(
    "damage", ["flipped", *(pytest.param(each, marks=pytest.mark.long) for each in ("cut", "empty", "foreign"))]
)
def test_damaged_entries_are_recomputed(device: Device, fresh_cache: Path, damage: str) -> None:
    _render(device)
    for path in _entries(fresh_cache):
        data = path.read_bytes()
        middle = len(data) // 2
        flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        path.write_bytes({"cut": data[:middle], "flipped": flipped, "empty": b"", "foreign": b"{}" * 50}[damage])
    _render(device)


@pytest.mark.parametrize(
    "payload",
    [
        *(b"", b'{"passed": true}'),
        *(pytest.param(each, marks=pytest.mark.long) for each in (b"{}", b"null", b"[1]", b"\xff\xfe", b"[" * 100_000)),
    ],
)
def test_incomplete_entries_are_ignored(device: Device, fresh_cache: Path, payload: bytes) -> None:
    """With a right checksum, as another version of mandelcl might have left them."""
    _render(device)
    for path in _entries(fresh_cache):
        if path.parent.name != "binaries":
            cache.write(path.parent.name, path.name, payload)
    _render(device)


def test_binary_of_another_kernel_is_rebuilt(device: Device, fresh_cache: Path) -> None:
    """With a right checksum."""
    _render(device)
    binaries = {path.name: cache.read("binaries", path.name) or b"" for path in fresh_cache.glob("binaries/*")}
    for name, payload in zip(binaries, [*binaries.values()][::-1], strict=True):
        cache.write("binaries", name, payload)
    _render(device)


@pytest.mark.full
def test_partial_entry_of_a_killed_writer_is_ignored(device: Device, fresh_cache: Path) -> None:
    _render(device)
    for path in _entries(fresh_cache):
        data = path.read_bytes()
        path.unlink()
        path.with_name(f".{path.name}.killed").write_bytes(data[: len(data) // 3])
    _render(device)


@pytest.mark.full
def test_unwritable_cache_is_ignored(device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("MANDELCL_CACHE", str(tmp_path / "file"))
    _render(device)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)  # means nothing to root
    monkeypatch.setenv("MANDELCL_CACHE", str(closed))
    _render(device)
    monkeypatch.setenv("MANDELCL_CACHE", "off")
    _render(device)


_LOAD = """
import sys
from mandelcl.opencl.device import discover
from mandelcl.base.errors import BuildError
device = next(device for device in discover() if device.spec == sys.argv[1])
try:
    device.load(sys.argv[2].encode())
except BuildError:
    pass
"""


@pytest.mark.parametrize("stale", ["garbage"])
def test_stale_binary_is_rebuilt(device: Device, fresh_cache: Path, stale: str) -> None:
    """One with a right checksum, under the right key."""
    if not device.keeps_binaries:
        pytest.skip("no binaries are kept for this platform; mandelcl/opencl/quirks.py says why")
    done = subprocess.run([sys.executable, "-c", _LOAD, device.spec, "garbage"], capture_output=True, env=os.environ)
    assert done.returncode == 0, done.stderr.decode()
    _render(device)
    binaries = list(fresh_cache.glob("binaries/*"))
    if not binaries:
        pytest.skip("this driver has no binaries to give")
    for path in binaries:
        payload = cache.read("binaries", path.name)
        assert payload
        cache.write("binaries", path.name, b"garbage" * 100 if stale == "garbage" else payload[: len(payload) // 2])
    for path in [*fresh_cache.glob("selftest/*"), *fresh_cache.glob("rates/*")]:
        path.unlink()
    _render(device)
    text = Program(
        device, Job(views.whole(3, 3), 9, number="float", rounding="separate", method="direct")
    ).kernels.text("block")
    mended = cache.read("binaries", texts.digest(f"{device.identity}\n{text}"))
    assert mended
    assert len(mended) > 700
