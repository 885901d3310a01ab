"""What makes a Dask worker one of a cluster that computes pictures: it says so when it registers, and ever after."""

from typing import TYPE_CHECKING, Any

from mandelcl.crew.dask import tasks
from mandelcl.crew.dask.introduction import KEY, Introduction
from mandelcl.crew.dask.relay import Relay

if TYPE_CHECKING:
    from distributed import Worker


def said_at_start(introduction: Introduction) -> dict[str, Any]:
    """Return the `startup_information` of a worker."""
    return {KEY: lambda _worker: introduction.as_dict()}


def said_ever_after(relay: Relay) -> dict[str, Any]:
    """Return the `metrics` of a worker, which its heartbeats carry."""
    return {KEY: lambda _worker: relay.state()}


def take_part(worker: "Worker", relay: Relay, introduction: Introduction) -> None:
    """Make a worker that has not registered yet one with a device."""
    worker.startup_information.update(said_at_start(introduction))
    worker.metrics.update(said_ever_after(relay))
    tasks.serve_by(relay)
