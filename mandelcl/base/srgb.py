"""sRGB values and amounts of light, from 0 to 1 (the transfer function of IEC 61966-2-1)."""

import numpy as np
import numpy.typing as npt


def decode(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the light of sRGB values from 0 to 1."""
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def encode(light: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return sRGB values from 0 to 1 of light."""
    light = np.clip(light, 0, 1)
    return np.asarray(np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055))
