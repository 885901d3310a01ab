"""One device under soak in a process of its own, the role `soak`: a driver that dies takes nothing else with it."""

from dataclasses import asdict

from mandelcl.base.host_cores import give_way
from mandelcl.workers.channel import IDLE, LAUNCHING, Channel


def serve(channel: Channel) -> None:
    """Prepare the jobs, then do a round of them whenever asked; until the parent closes the pipe."""
    order = channel.question()
    if order["type"] == "cpu":
        give_way(10)  # before the driver starts its threads: other programs come first
    from mandelcl.core import timeline
    from mandelcl.crew.watched_device import WatchedDevice
    from mandelcl.engine import choose
    from mandelcl.lab.soak.jobs import prepared
    from mandelcl.lab.soak.others import Others

    device = WatchedDevice(choose.matching([order["spec"]])[0], channel)
    timeline.name_process(f"soak {device.label}")
    jobs = prepared(device, order["seconds"], order["self_test"])
    device.between = LAUNCHING
    channel.answer({"jobs": [asdict(job.facts) for job in jobs]})
    while True:
        channel.note(IDLE)
        turn = channel.question()["round"]
        channel.note(LAUNCHING)
        others = Others()
        runs = [asdict(job.run(turn)) for job in jobs]
        channel.answer({"runs": runs, "others": others.share() if device.type == "cpu" else 0.0})
