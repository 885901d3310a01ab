"""Conversion between sRGB and linear light. Colours are mixed in linear light."""

from functools import cache

import numpy as np
import numpy.typing as npt

from mandelcl.base.srgb import decode, encode

Light = npt.NDArray[np.float32]  # 0 … 1 per channel

_STEPS = 65535  # of the table from light to bytes: twenty for the smallest step of a byte


def light_of(values: npt.NDArray[np.uint8]) -> Light:
    """Return the light of sRGB bytes."""
    return np.take(_decoded(), values, mode="clip")


def bytes_of(light: Light) -> npt.NDArray[np.uint8]:
    """Return light as sRGB bytes, clipped to their range. `light_of` and then `bytes_of` returns the same bytes."""
    return encoded(steps_of(light))


def steps_of(light: Light) -> npt.NDArray[np.uint16]:
    """Return light in steps of 1/65535, clipped to 0 … 1: indices into tables of bytes."""
    steps = np.clip(light, 0, 1)
    steps *= np.float32(_STEPS)
    steps += np.float32(0.5)
    return steps.astype(np.uint16)


def encoded(steps: npt.NDArray[np.uint16], table: npt.NDArray[np.uint8] | None = None) -> npt.NDArray[np.uint8]:
    """Return the sRGB bytes for steps of light, or the bytes of another table."""
    return np.take(srgb_bytes() if table is None else table, steps, mode="clip")


@cache
def _decoded() -> Light:
    table = decode(np.arange(256) / 255).astype(np.float32)
    table.flags.writeable = False
    return table


@cache
def srgb_bytes() -> npt.NDArray[np.uint8]:
    """Return the sRGB byte for each step of light."""
    table = np.rint(encode(np.arange(_STEPS + 1) / _STEPS) * 255).astype(np.uint8)
    table.flags.writeable = False
    return table
