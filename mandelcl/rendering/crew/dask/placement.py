"""Decide which workers of a cluster take part in a job. The job is resolved once for all of them."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from mandelcl.base.errors import LONGEST_LINE, DeviceError
from mandelcl.base.text import printable
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.engine import choose
from mandelcl.engine.resolve import resolve
from mandelcl.engine.selftest import SelfTestResult
from mandelcl.engine.variant import Variant
from mandelcl.rendering.crew.dask import tasks
from mandelcl.rendering.crew.dask.connection import Connection
from mandelcl.rendering.crew.dask.handshake import RemoteDevice
from mandelcl.rendering.crew.dask.members import Member
from mandelcl.workers.wire import WireError

# The variant for a device in a resolved job, and the result of its self-test with it.
Tested: TypeAlias = tuple[Variant, SelfTestResult]


@dataclass(frozen=True, slots=True)
class RemotePart:
    """The part of a worker's device in a resolved job (a `Part`)."""

    member: Member
    job: Job
    variant: Variant
    loop_limit: int
    speed: float
    warnings: tuple[str, ...]

    @property
    def device(self) -> RemoteDevice:
        """The device."""
        return self.member.device


class Placement:
    """Asks the workers of a cluster what they would be in a job."""

    def __init__(self, connection: Connection, self_test: bool) -> None:
        self._connection, self._self_test = connection, self_test

    def parts(self, job: Job, members: Sequence[Member]) -> tuple[list[RemotePart], list[str]]:
        """Return the parts of some workers in a job, and notes on those left out; raises DeviceError if none is left.

        Raises InvalidInputError for a job that no number can hold.
        """
        resolved = resolve(job, [member.device.device_class for member in members], shared=True)
        results = self._connection.spawn(self._all_tested(resolved.job, members)).result()
        parts, reasons = [], []
        for member, tested in zip(members, results, strict=True):
            part = self._part(resolved.job, member, tested, resolved.warnings)
            if isinstance(part, RemotePart):
                parts.append(part)
            else:
                reasons.append(part)
        if not parts:
            raise DeviceError(f"no worker can do this job; {'; '.join(reasons)}")
        return parts, [printable(f"left out: {reason}", LONGEST_LINE) for reason in reasons]

    def resolved(self, job: Job, members: Sequence[Member] = ()) -> tuple[list[RemotePart], list[str]]:
        """Return what `parts` does for some workers, or for those that are there once these are gone."""
        while True:
            members = members or self._connection.await_members()
            try:
                return self.parts(job, members)
            except DeviceError:
                if not any(member.gone for member in members):
                    raise
                members = ()

    async def later(self, job: Job, member: Member) -> RemotePart | str:
        """Return the part of a worker that comes when the job is resolved, or why it has none."""
        return self._part(job, member, await self._tested(job, member), ())

    def _part(self, job: Job, member: Member, tested: Tested, warnings: tuple[str, ...]) -> RemotePart | str:
        variant, result = tested
        if by_name(job.number).needs_fp64 and not member.device.fp64:
            return f"{member.device.label}: {choose.lacks_double(job)}"
        reason = choose.refusal(job, result)
        if reason is not None:
            return f"{member.device.label}: {reason}"
        return RemotePart(member, job, variant, result.loop_limit, result.speed, warnings)

    async def _all_tested(self, job: Job, members: Sequence[Member]) -> list[Tested]:
        return list(await asyncio.gather(*(self._tested(job, member) for member in members)))

    async def _tested(self, job: Job, member: Member) -> Tested:
        """Return a worker's test result for a resolved job; a failed test if it does not answer."""
        julia = "" if job.formula.constant is None else " julia"  # no kernel's text has the constant
        key = [job.number, job.rounding, f"{job.formula.text}{julia}"]
        question = {"key": key, "job": job.to_json(), "self_test": self._self_test}
        try:
            return parsed(await self._connection.ask(member, tasks.probe, question))
        except Exception as error:  # any error in a worker is a fault of this worker only
            reason = printable(f"{error}") or type(error).__name__
            return Variant(1, 1, 1, 1, 1, 1, 1), SelfTestResult(False, reason, False, 0.0, 0)


def parsed(answer: Any) -> Tested:
    """Return a worker's answer about a job. Raises WireError if it is invalid."""
    try:
        variant = Variant.from_json(_json(answer["variant"]))
        tested = SelfTestResult(**answer["tested"])
        kinds = [type(getattr(tested, name)) for name in ("passed", "reason", "denormals", "loop_limit", "speed")]
        if type(tested.speed) is int:
            tested = replace(tested, speed=float(tested.speed))
    except (KeyError, OverflowError, TypeError, ValueError) as error:
        raise WireError("an answer about a job that makes no sense") from error
    if kinds != [bool, str, bool, int, float] or not 0 <= tested.speed < math.inf or tested.loop_limit < 0:
        raise WireError("an answer about a job that makes no sense")
    return variant, tested


def _json(values: Mapping[str, Any]) -> str:
    import json

    return json.dumps(dict(values))
