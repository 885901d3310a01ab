"""From a resolved job to a built program: the text for the driver's compiler, or the binary of an earlier build."""

import re
import threading
from contextlib import suppress

from mandelcl.base.errors import BuildError
from mandelcl.core.job import SMOOTH_RADIUS_SQUARED, Job
from mandelcl.core.numbers import by_name
from mandelcl.core.planes import CERTIFIED, DISTANCE, LAST, trails
from mandelcl.engine import source
from mandelcl.engine.arguments import declared
from mandelcl.engine.methods import method_of
from mandelcl.engine.variant import Variant
from mandelcl.files import cache
from mandelcl.formulas.kernel import component_files
from mandelcl.opencl.api import BuiltProgram, Kernel
from mandelcl.opencl.device import Device
from mandelcl.opencl.programs import binary_of, kernel_names

SMOOTH_LIMIT = 1000
_MOST_KEPT = 32
_keeping = threading.Lock()


def loop_text(job: Job, variant: Variant, orbits: str) -> str:
    """Return the source text that computes a resolved job with a variant; `orbits` is one of source.ORBITS."""
    number = by_name(job.number)
    variant = variant.in_cycles(len(job.formula.lines))
    defines = number.defines(job.rounding, variant.double_digits) | variant.defines()
    defines |= {
        "LATTICE_UPRIGHT": int(job.view.lattice.is_upright),
        "STAYS_OUTSIDE": int(job.formula.stays_outside(job.radius_squared, number.step_unit(job.formula.products))),
        "COUNT_BITS": job.counts.bits,
        "RESULT_WORDS": job.words,
        "SMOOTH": int(job.smooth),
        "SMOOTH_RADIUS_SQUARED": int(SMOOTH_RADIUS_SQUARED),
        "SMOOTH_LIMIT": SMOOTH_LIMIT,
        "CERTIFIED": int(CERTIFIED.name in job.planes),
        "INTERIOR": int(job.reference is not None and job.reference.tests_interior),
        "DISTANCE": int(DISTANCE.name in job.planes),
        "LAST": int(LAST.name in job.planes),
        "TRAIL": int(bool(trails(job.planes))),
    }
    if job.reference is not None:
        defines["MAPS"] = int(job.reference.may_have_map)
    if trails(job.planes):
        defines["TRAIL_TERMS"] = len(trails(job.planes))
    defines |= {f"PLANE_{name.upper()}": first for name, first in job.first_words.items() if name.isidentifier()}
    method, derivatives = method_of(job), number.derivative_parts if DISTANCE.name in job.planes else ()
    parts = (method.derivative_kernel if derivatives else method.kernel), *method.loop(job)
    digits, formula = variant.double_digits, job.formula
    formula_parts = source.FormulaParts(source.formula_parts(formula, number, digits), component_files(formula))
    number_parts = (*number.parts(digits), *method.number_parts)
    return source.loop(number_parts, formula_parts, parts, orbits, defines, derivatives, trail_parts(job))


def trail_parts(job: Job) -> tuple[source.Part, ...]:
    """Return the kernel parts that record the last iterates of a job's orbits for its planes."""
    kept = trails(job.planes)
    if not kept:
        return ()
    first = job.first_words
    point = "trail_point z, trail_point c, float_lanes *terms"
    terms = [f"  terms[{k}] = {trail.term};" for k, (_, trail) in enumerate(kept)]
    nearest = " || ".join(f"k == {k}" for k, (_, trail) in enumerate(kept) if trail.nearest) or "false"
    words = [f"  if (k == {k}) return {first[name]};" for k, (name, _) in enumerate(kept)]
    text = [
        "/* What an iterate adds to each plane of last iterates, and where a plane's words begin. */",
        *(f"INLINED void trail_terms({point}) {{", *terms, "}"),
        *("static bool trail_nearest(uint k) {", f"  return {nearest};", "}"),
        *("static uint trail_words(uint k) {", *words, "  return 0;", "}"),
        "static float_lanes trail_start(uint k) {",
        *("  return (float_lanes)(trail_nearest(k) ? TRAIL_NOTHING : 0.0f);", "}"),
        "static float_lanes trail_fold(uint k, float_lanes all, float_lanes term) {",
        *("  return trail_nearest(k) ? fmin(all, term) : all + term;", "}", ""),
    ]
    return "trail.cl", source.Text("trail planes", "\n".join(text)), "advance_trail.cl"


def build(device: Device, text: str) -> BuiltProgram:
    """Return a program for the device: one built before, or one from an earlier process's binary, or a new one."""
    kept = device.programs
    program = kept.get(text) or _built(device, text)
    with _keeping:
        kept.pop(text, None)
        kept[text] = program
        while len(kept) > _MOST_KEPT:
            del kept[next(iter(kept))]
    return program


def _is_of(program: BuiltProgram, text: str) -> bool:
    """Return whether a program may belong to a text: whether the text names all of its kernels."""
    names = kernel_names(program)
    return bool(names) and all(re.search(rf"\b{re.escape(name)}\b", text) for name in names)


def kernel(device: Device, text: str, name: str) -> Kernel:
    """Return a kernel of a text, built for the device. Each thread gets a kernel of its own, the same one each time."""
    program = build(device, text)
    with _keeping:
        kept = device.kernels.setdefault(program, {})
    key = threading.get_ident(), name
    if key not in kept:
        kept[key] = declared(program, name)
    return kept[key]


def _built(device: Device, text: str) -> BuiltProgram:
    if not device.keeps_binaries:
        return device.build(text)
    key = source.digest(f"{device.identity}\n{text}")
    binary = cache.read("binaries", key)
    if binary is not None:
        with suppress(BuildError):  # another driver's, or a damaged one
            program = device.load(binary)
            if _is_of(program, text):
                return program
    program = device.build(text)
    binary = binary_of(program)
    if binary is not None:
        cache.write("binaries", key, binary)
    return program
