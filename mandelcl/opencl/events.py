"""How long commands took, by the device's clock."""

from mandelcl.opencl.api import Event, cl

_TRUSTED_NS = 1000, 24 * 3600 * 10**9  # shorter and longer times are not trusted: some drivers leave them unset


def event_seconds(event: Event) -> float | None:
    """Return how long an event took by the device's clock; None if that clock is unusable."""
    times = stamps(event)
    return None if times is None else (times[1] - times[0]) * 1e-9


def stamps(event: Event) -> tuple[int, int] | None:
    """Return when an event began and ended by the device's clock, in nanoseconds; None if that clock is unusable.

    A driver may not know it yet when a later event has been waited for, so this waits for the event itself.
    """
    event.wait()
    try:
        start, end = event.profile.start, event.profile.end
    except cl.Error:  # the queue keeps no times
        return None
    least, most = _TRUSTED_NS
    return (start, end) if least < end - start < most else None
