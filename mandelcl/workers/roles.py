"""The roles of workers by name. A role is a function that takes the worker's channel and returns when it is done.

A role that is not in the table is named by its location, `package.module:function`.
"""

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from mandelcl.base.errors import InvalidInputError

if TYPE_CHECKING:
    from mandelcl.workers.channel import Channel

Role: TypeAlias = Callable[["Channel"], object]

ROLES: Mapping[str, str] = MappingProxyType(
    {
        "blocks": "mandelcl.rendering.crew.block_worker:serve",
        "render": "mandelcl.lab.studies.processes:serve",
        "parts": "mandelcl.lab.studies.parts:serve",
        "pinned": "mandelcl.lab.studies.pinned:serve",
        "kernel": "mandelcl.lab.own_kernel.worker:serve",
        "soak": "mandelcl.lab.soak.worker:serve",
        "explore": "mandelcl.explore.worker:serve",
        "device-list": "mandelcl.explore.device_list:serve",
        "refine": "mandelcl.explore.refining:serve",
        "film": "mandelcl.explore.filming:serve",
        "save": "mandelcl.explore.saves:serve",
        "open": "mandelcl.explore.uploads:serve",
        "thumbnails": "mandelcl.explore.thumbnails:serve",
        "find": "mandelcl.explore.finding:serve",
        "exact": "mandelcl.perturbation.counting:serve",
        "references": "mandelcl.perturbation.helper:serve",
        "cluster device": "mandelcl.rendering.crew.dask.device:serve",
        "cluster worker": "mandelcl.rendering.crew.dask.worker:serve",
    }
)


def find_role(name: str) -> Role:
    """Return the role of that name, its module imported; raises InvalidInputError if there is none."""
    place = ROLES.get(name, name)
    if ":" not in place:
        raise InvalidInputError(f"unknown role {name!r}; there is {', '.join(ROLES)}, or package.module:function")
    role: Role = find(place)
    return role


def find(place: str) -> Callable[..., object]:
    """Return the function at `package.module:function`, its module imported."""
    module, _, function = place.partition(":")
    found: Callable[..., object] = getattr(importlib.import_module(module), function)
    return found
