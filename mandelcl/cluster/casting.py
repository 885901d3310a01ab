"""Which workers of a cluster take part in a job, and as what: the job is settled alike for all of them."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mandelcl.cluster import tasks
from mandelcl.cluster.connection import Connection
from mandelcl.cluster.introduction import RemoteDevice
from mandelcl.cluster.members import Member
from mandelcl.engine import choose, selftest
from mandelcl.engine.choose import Tested
from mandelcl.engine.selftest import SelfTestResult
from mandelcl.engine.settling import settle_method
from mandelcl.engine.variant import Variant
from mandelcl.errors import DeviceError
from mandelcl.job import Job
from mandelcl.numbers import by_name
from mandelcl.printable import printable
from mandelcl.workers.wire import WireError

_FAILED = SelfTestResult(False, "", False, 0.0, False, 0)


@dataclass(frozen=True, slots=True)
class RemotePart:
    """The part of a worker's device in a settled job (a `Part`)."""

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


class Casting:
    """Asks the workers of a cluster what they would be in a job."""

    def __init__(self, connection: Connection, self_test: bool) -> None:
        self._connection, self._self_test = connection, self_test

    def parts(self, job: Job, members: Sequence[Member]) -> tuple[list[RemotePart], list[str]]:
        """Return the parts of some workers in a job, and notes on those left out; raises DeviceError if none is left.

        Raises InvalidInputError for a job that no number can hold.
        """
        devices = [member.device for member in members]
        job, notes = settle_method(job, devices)
        number, warnings = choose.settle_number(job, devices)
        job = job.resolved(number.name, job.rounding)
        test = self._connection.spawn
        job, results, slow = choose.settle_alike(
            job, number, devices, lambda job, _devices: test(self._all_tested(job, members)).result()
        )
        parts, reasons = [], []
        for member, tested in zip(members, results, strict=True):
            part = self._part(job, member, tested, (*notes, *warnings, *slow))
            if isinstance(part, RemotePart):
                parts.append(part)
            else:
                reasons.append(part)
        if not parts:
            raise DeviceError(f"no worker can do this job; {'; '.join(reasons)}")
        return parts, [f"left out: {reason}" for reason in reasons]

    def settled(self, job: Job, members: Sequence[Member] = ()) -> tuple[list[RemotePart], list[str]]:
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
        """Return the part of a worker that comes when the job is settled, or why it has none."""
        return self._part(job, member, await self._tested(job, member), ())

    def _part(self, job: Job, member: Member, tested: Tested, warnings: tuple[str, ...]) -> RemotePart | str:
        rounding, variant, result = tested
        number = by_name(job.number)
        settled = job if job.rounding != "auto" else job.resolved(number.name, rounding)
        if number.needs_fp64 and not member.device.fp64:
            return f"{member.device.label}: {selftest.NO_DOUBLE}"
        reason = choose.refusal(settled, number, result)
        if reason is not None:
            return f"{member.device.label}: {reason}"
        return RemotePart(member, settled, variant, result.loop_limit, result.speed, warnings)

    async def _all_tested(self, job: Job, members: Sequence[Member]) -> list[Tested]:
        return list(await asyncio.gather(*(self._tested(job, member) for member in members)))

    async def _tested(self, job: Job, member: Member) -> Tested:
        """Return what a worker says of a job whose number is settled; a failed test where it says nothing."""
        julia = "" if job.formula.constant is None else " julia"  # no kernel's text has the constant
        key = [job.number, job.rounding, f"{job.formula.text}{julia}"]
        question = {"key": key, "job": job.to_json(), "self_test": self._self_test}
        rounding = by_name(job.number).roundings[0] if job.rounding == "auto" else job.rounding
        try:
            return parsed(await self._connection.ask(member, tasks.audition, question))
        except Exception as error:  # whatever a worker raises is its fault, and no other's
            reason = printable(f"{error}") or type(error).__name__
            failed = SelfTestResult(False, reason, False, 0.0, False, 0)
            return rounding, Variant(1, 1, 1, 1, 1, 1, 1), failed


def parsed(said: Any) -> Tested:
    """Return what a worker says of a job; raises WireError if it makes no sense."""
    try:
        variant = Variant.from_json(_json(said["variant"]))
        tested = SelfTestResult(**said["tested"])
        kinds = [type(getattr(tested, name)) for name in ("passed", "reason", "denormals", "slow_fma", "loop_limit")]
        speed = float(tested.speed)
    except (KeyError, TypeError, ValueError) as error:
        raise WireError("an answer about a job that makes no sense") from error
    if kinds != [bool, str, bool, bool, int] or not 0 <= speed < math.inf or not isinstance(said["rounding"], str):
        raise WireError("an answer about a job that makes no sense")
    return said["rounding"], variant, tested


def _json(values: Mapping[str, Any]) -> str:
    import json

    return json.dumps(dict(values))
