"""Jobs as JSON: refused in a line, or the job that they say; and such jobs rendered, against the oracle."""

import json
from functools import cache
from random import Random

import numpy as np

import mandelcl
from mandelcl.base.errors import InvalidInputError, MandelclError
from mandelcl.core.job import Job
from mandelcl.core.job_text import READERS
from mandelcl.rendering.session import Session
from tests import oracle as counting
from tests.fuzz import samples
from tests.fuzz.devices import device, other_device
from tests.fuzz.ground import Ground
from tests.fuzz.mutations import as_json, changed
from tests.fuzz.oracle import require, require_line
from tests.oracle.formats import FORMATS

_USUAL = (
    *("float", "double", "auto", "fp128", "fixed:3", "fixed:9", "fused", "separate", "fixed", "direct", "perturbation"),
    *(
        "escape",
        "border",
        "auto",
        "bounded",
        ["counts"],
        ["counts", "smooth"],
        ["certified"],
        True,
        False,
        "mandelbrot",
    ),
    *(
        {"name": "julia", "im": "1/4", "re": "0"},
        {"name": "burning-ship"},
        {"name": "multibrot-3"},
        {"name": "mandelbrot"},
    ),
    *("4", "5", "16384", "-3/4", "1/1000", "1/1267650600228229401496703205376", 1, 3, 100, 1000, 0, [0, 0], 2),
)
_MOST_PIXELS, _MOST_ITERATIONS = 300, 1000


def texts(ground: Ground) -> None:
    """Check a changed job: refused in a line, or the same job again from its own JSON, which says what this says."""
    text = _changed(ground.random)
    (ground.here / "input.json").write_text(text, "utf-8", "surrogatepass")
    job = read(text)
    if job is None:
        return
    ground.accepted = True
    again = Job.from_json(job.to_json())
    require(again == job, f"another job, written and read again: {job} and {again}")
    reported = json.loads(text)
    require(reported["version"] in READERS, "a version that nobody wrote")
    for name in ("number", "method", "algorithm", "rounding", "strict", "iterations"):
        if name in reported and not (name == "method" and reported["version"] == 1):
            require(
                getattr(job, name) == reported[name],
                f"{name} is {getattr(job, name)!r}, and the text says {reported[name]!r}",
            )
    require(
        (job.view.width, job.view.height) == (reported["view"]["width"], reported["view"]["height"]), "another size"
    )


def read(text: str) -> Job | None:
    """Return the job that a text says; None where it is refused, for which there must be a line."""
    try:
        return Job.from_json(text)
    except InvalidInputError as error:
        require_line(str(error))
        return None


def _changed(random: Random) -> str:
    text = random.choice(samples.job_texts())
    return as_json(changed(json.loads(text), random, _USUAL) if random.random() < 0.95 else json.loads(text), random)


def renders(ground: Ground) -> None:
    """Check the counts of a changed job that is still one, against the oracle or another device."""
    job = _renderable(ground.random)
    (ground.here / "input.json").write_text(job.to_json(), "utf-8")
    try:
        field, _ = mandelcl.render(job, _session())
    except MandelclError as error:
        require_line(f"mandelcl: {error}")
        return
    ground.accepted = True
    resolved = field.job
    require(field.counts.shape == (job.view.height, job.view.width), "another size")
    if resolved.number in FORMATS and resolved.method == "direct":
        expected = counting.counts(resolved)
    elif (other := other_device()) is not None:
        expected = mandelcl.render(resolved, [other])[0].counts
    else:
        return
    differing = np.count_nonzero(field.counts != expected)
    require(not differing, f"{differing} of {expected.size} counts are wrong: {resolved.to_json()}")


@cache
def _session() -> Session:
    return Session(device())


def _renderable(random: Random) -> Job:
    """Return a changed job that takes no long time: small, of few iterations, mostly in numbers that are built soon."""
    while True:
        values = json.loads(random.choice(samples.job_texts()))
        text = as_json(changed(values, random, _USUAL), random)
        try:
            job = Job.from_json(text)
        except InvalidInputError:
            continue
        small = job.view.pixels <= _MOST_PIXELS and job.iterations <= _MOST_ITERATIONS
        plain = job.number in ("auto", *FORMATS) or random.random() < 0.05
        if small and plain:
            return job
