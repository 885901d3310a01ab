"""A process that computes references and their tables, one after the other, and hands them to the one that asks."""

import pickle
import time
from collections.abc import Callable, Mapping
from typing import Any

from mandelcl.base.errors import NEVER, DeviceError, Token, stop_if
from mandelcl.base.exact import from_hexadecimal, hexadecimal
from mandelcl.core import timeline
from mandelcl.core.reference import Reference
from mandelcl.formulas import Formula
from mandelcl.perturbation.kept import ReferenceKey, found_orbit, kept_orbit, table_of
from mandelcl.perturbation.orbit import Orbit
from mandelcl.perturbation.table import Table
from mandelcl.workers.channel import Channel
from mandelcl.workers.dialogue import Dialogue

ROLE = "references"
_REPORT_S = 0.2
_ALIGNMENT = 64  # of arrays in an answer
_MOST_ANSWER = 1 << 40  # it is as long as what it holds, and memory is taken as it comes


class Helper:
    """Such a process; it stops what it does where `closed` is set. Raises DeviceError where it cannot be started."""

    def __init__(self, closed: Token) -> None:
        self._closed = closed
        self._cancel: Token = NEVER
        self._dialogue = Dialogue(ROLE, self._check, _MOST_ANSWER)

    def compute(
        self, wanted: ReferenceKey, keeps: bool, cancel: Token, progress: Callable[[int], None]
    ) -> tuple[Orbit, Table, float]:
        """Return the orbit, the table and the seconds that they took; raises DeviceError where it cannot make them."""
        self._cancel = cancel
        answer, payload = self._dialogue.ask_for_bytes(_question(wanted, keeps))
        while (iterations := answer.get("iterations")) is not None:
            progress(iterations)
            answer, payload = self._dialogue.hear()
        return *_unpacked(answer, payload), answer["seconds"]

    def end(self) -> None:
        """End the process."""
        self._dialogue.end()

    def _check(self) -> None:
        stop_if(self._closed)
        stop_if(self._cancel)


def serve(channel: Channel) -> None:
    """Be the process of the role: compute references until nobody asks any more."""
    reported_at = time.monotonic()

    def on_progress(iterations: int) -> None:
        nonlocal reported_at
        if time.monotonic() - reported_at >= _REPORT_S:
            reported_at = time.monotonic()
            channel.answer({"iterations": iterations})

    while True:
        question = channel.question()
        reported_at = time.monotonic()
        began, wanted = time.perf_counter(), _wanted(question)
        compute = kept_orbit if question["keeps"] else found_orbit
        with timeline.span("reference"):
            orbit = compute(wanted, NEVER, on_progress)
        with timeline.span("table of steps"):
            table = table_of(wanted, orbit, threads=1)
        with timeline.span("send the reference"):
            head, data = _packed(orbit, table)
            channel.answer({**head, "seconds": time.perf_counter() - began}, data)


def _packed(orbit: Orbit, table: Table) -> tuple[dict[str, Any], bytearray]:
    """Return the answer: a pickle, and behind it the arrays that it refers to, each aligned."""
    buffers: list[pickle.PickleBuffer] = []
    whole = pickle.dumps((orbit, table), 5, buffer_callback=buffers.append)
    parts = [memoryview(whole), *(buffer.raw() for buffer in buffers)]
    data = bytearray()
    for part in parts:
        data += bytes(-len(data) % _ALIGNMENT)
        data += part
    return {"sizes": [len(part) for part in parts]}, data


def _unpacked(answer: Mapping[str, Any], payload: bytearray | memoryview) -> tuple[Orbit, Table]:
    """Return what `_packed` packed, its arrays in the payload; raises DeviceError for anything else."""
    parts, end = [], 0
    try:
        view = memoryview(payload).toreadonly()
        for size in answer["sizes"]:
            end += -end % _ALIGNMENT
            parts.append(view[end : end + size])
            end += size
        orbit, table = pickle.loads(parts[0], buffers=parts[1:])
    except (ArithmeticError, AttributeError, EOFError, LookupError, TypeError, ValueError, pickle.PickleError) as error:
        raise DeviceError("the process sent an invalid message") from error
    return orbit, table


def _question(wanted: ReferenceKey, keeps: bool) -> dict[str, Any]:
    reference = wanted.reference
    return {
        "re": hexadecimal(reference.re),
        "im": hexadecimal(reference.im),
        "radius": hexadecimal(reference.radius),
        "bits": [reference.step_bits, reference.tail_bits, reference.version],
        "iterations": wanted.iterations,
        "radius_squared": hexadecimal(wanted.radius_squared),
        "unit_bits": wanted.unit_bits,
        "formula": wanted.formula.as_json(hexadecimal),
        "phase": wanted.phase,
        "keeps": keeps,
    }


def _wanted(question: Mapping[str, Any]) -> ReferenceKey:
    re, im, radius = (from_hexadecimal(question[name]) for name in ("re", "im", "radius"))
    reference = Reference(re, im, radius, *question["bits"])
    return ReferenceKey(
        reference,
        question["iterations"],
        from_hexadecimal(question["radius_squared"]),
        question["unit_bits"],
        Formula.from_json(question["formula"], lambda part: from_hexadecimal(str(part))),
        question["phase"],
    )
