"""The distance estimate, in operations that give the same result on every platform. It uses no library logarithm.

With z where an orbit left the smooth radius and J the derivative of z by the pixel's point, the estimate is
|z|²·ln|z|·g/|g|², where g = Jᵀz is the slope of |z|²/2; for an analytic formula that is z·ln|z|/z′ as a vector (Milnor,
"Dynamics in One Complex Variable", appendix G; Peitgen and Saupe, "The Science of Fractal Images", 1988, 4.2.5). It
leads away from the set. Its length, |z|·ln|z|/|z′|, is half of the upper bound of the distance for a connected set, so
the set is between half and twice as far (Koebe's quarter theorem). Kalles Fraktaler and Fraktaler-3 call it DEX, DEY.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

# ln 2, and 2/(2k + 1) for the series of ln((1 + s)/(1 − s)): what follows is below 2⁻³⁸ of it where |s| ≤ 0.1716.
_LN_2 = 0.6931471805599453
_TERMS = (2 / 13, 2 / 11, 2 / 9, 2 / 7, 2 / 5, 2 / 3, 2.0)
_ROOT_HALF = 0.7071067811865476
_FARTHEST = 2.0**100  # pixels, along each axis


def distances_of(
    norms: Floats, slopes_re: Floats, slopes_im: Floats, steps: tuple[float, float, float, float]
) -> npt.NDArray[np.complex64]:
    """Return the distance estimates of pixels, in pixels: re to the right, im up.

    `norms` are |z|², and slopes those of |z|²/2 by re and by im of the point, times 2^−k; `steps` are how far a column
    leads along re, a row downward along re, a column along im, a row downward along im, times 2^k. Where a slope is
    not finite, the set is nearer than any float says, and the distance 0; where |z|² is not, or the slope is 0, it is
    2¹⁰⁰.
    """
    a, b, c, d = steps
    with np.errstate(all="ignore"):
        norm, by_re, by_im = (part.astype(np.float64) for part in (norms, slopes_re, slopes_im))
        right, up = a * by_re + c * by_im, -(b * by_re + d * by_im)
        share = norm * (0.5 * logarithms(norm)) / (right * right + up * up)
        distances = np.empty(norms.shape, np.complex64)
        for part, slope in ((distances.real, right), (distances.imag, up)):
            np.copyto(part, np.clip(share * slope, -_FARTHEST, _FARTHEST), casting="same_kind")
        none = np.logical_and(right == 0, up == 0)
        distances[none] = _FARTHEST
        distances[~np.isfinite(slopes_re) | ~np.isfinite(slopes_im)] = 0
        distances[~np.isfinite(norms)] = _FARTHEST
    return distances


def logarithms(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return ln of numbers above 0, within 2⁻³⁷ of it or of 1: sums, products and quotients, each rounded once."""
    mantissas, exponents = np.frexp(values)
    low = mantissas < _ROOT_HALF
    mantissas = np.where(low, mantissas + mantissas, mantissas)
    ratio = (mantissas - 1) / (mantissas + 1)
    square, series = ratio * ratio, np.full(values.shape, _TERMS[0])
    for term in _TERMS[1:]:
        series = series * square + term
    logarithm: npt.NDArray[np.float64] = series * ratio + (exponents - low) * _LN_2
    return logarithm
