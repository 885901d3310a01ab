"""From a resolved job to the text of its loop."""

from mandelcl.core.job import SMOOTH_RADIUS_SQUARED, Job
from mandelcl.core.numbers import by_name
from mandelcl.core.planes import CERTIFIED, DISTANCE, LAST, trails
from mandelcl.engine import source
from mandelcl.engine.methods import method_of
from mandelcl.engine.variant import Variant
from mandelcl.formulas.kernel import component_files
from mandelcl.opencl import texts

SMOOTH_LIMIT = 1000


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


def trail_parts(job: Job) -> tuple[texts.Part, ...]:
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
    return "trail.cl", texts.Text("trail planes", "\n".join(text)), "advance_trail.cl"
