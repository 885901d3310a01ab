"""Known answers for frames: noise, with colour tables in which every step of light is visible."""

from collections.abc import Iterator

import numpy as np

from mandelcl.colour.linear_light import Light
from mandelcl.film.assembly import Composition, Recipe, Rgb, assembled, recipes
from mandelcl.film.on_device import Assembler
from mandelcl.opencl.device import Device

_STEPS = 1 << 16
_CASES = 12


def gives_answers(device: Device) -> bool:
    """Return whether a device's frames equal the host's. Raises DeviceError."""
    random = np.random.default_rng(2026)
    table = noise_table(random)
    for how, base, deeper in cases(random):
        expected = assembled(how, base, deeper, table)
        for bytes_of_light in (None, table):
            maker = Assembler(device, how.size, bytes_of_light)
            if not maker.makes(how):
                continue
            made = maker.frame(how, maker.keep(base), None if deeper is None else maker.keep(deeper))
            if not np.array_equal(made, assembled(how, base, deeper) if bytes_of_light is None else expected):
                return False
    return True


def cases(random: np.random.Generator) -> Iterator[tuple[Recipe, Light, Light | None]]:
    """Yield recipes and the light of their keyframes: some rotated, some with one keyframe, some with many points."""
    for k in range(_CASES):
        turned, alone = k % 3 == 2, k % 4 == 3
        yield case(random, turned, alone, float(2 ** random.uniform(0, 3 if k % 5 == 4 else 1)))


def case(
    random: np.random.Generator, turned: bool, alone: bool, scale: float, most: tuple[int, int] = (160, 60)
) -> tuple[Recipe, Light, Light | None]:
    """Return a frame of odd size with this spacing of points, which extends slightly beyond its keyframes."""
    size = int(random.integers(1, most[0])), int(random.integers(1, most[1]))
    keyframes = [_noise(random, tuple(int(side * scale * random.uniform(0.7, 1.4)) + 9 for side in size))
                 for _ in range(2)]  # fmt: skip
    angle = random.uniform(-4, 4) if turned else 0.0
    placements = []
    for factor, light in zip((scale, 2 * scale), keyframes, strict=True):
        a, b = factor * np.cos(angle), -factor * np.sin(angle)
        # Around the centres of both, or near them.
        x, y = ((side - 1) / 2 + random.uniform(-3, 3) for side in (light.shape[2], light.shape[1]))
        middle = (size[0] - 1) / 2, (size[1] - 1) / 2
        offset = x - a * middle[0] - b * middle[1], y + b * middle[0] - a * middle[1]
        placements.append(((float(a), float(b), float(-b), float(a)), (float(offset[0]), float(offset[1]))))
    share, gap = float(random.uniform(0, 1)), float(random.choice([0, 0.01, 0.3]))
    made_of = Composition(0, placements[0], None if alone else placements[1], share, gap, turned)
    base, deeper = keyframes
    sizes = [(light.shape[2], light.shape[1]) for light in keyframes]
    (how,) = recipes([made_of], sizes[0], None if alone else sizes[1], size)
    return how, base, None if alone else deeper


def noise_table(random: np.random.Generator) -> Rgb:
    """Return bytes for steps of light, each different from the next."""
    return np.cumsum(random.integers(1, 255, _STEPS)).astype(np.uint8)


def _noise(random: np.random.Generator, size: tuple[int, ...]) -> Light:
    """Return light of all amounts, 3 × rows × columns: including 0, 1, slightly more than 1, and tiny values."""
    width, height = size
    light = random.uniform(0, 1, (3, height, width)).astype(np.float32)
    edges = np.array([0, 1, 1.0000001, 1e-30, 1e-42], np.float32)
    return np.where(random.random(light.shape) < 0.2, random.choice(edges, light.shape), light)
