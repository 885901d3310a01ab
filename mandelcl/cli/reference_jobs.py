"""Ten small jobs and the digests of their counts, which are the same on every device. Device reports include them."""

from collections.abc import Mapping
from types import MappingProxyType

from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.formulas import BurningShip, Julia, Multibrot3

_WHOLE = View.centred("-0.5", 0, "1.1", 96, 64)
_SEAHORSE = View.centred("-0.743643887037151", "0.131825904205330", "1e5", 96, 64)
_TURNED = View.centred("-0.743643887037151", "0.131825904205330", "500", 96, 64, rotation=30)
_DEEP = View.centred(0, 1, "1e18", 48, 32)
_DEEPER = View.centred(0, 1, "1e40", 24, 16)
_DEEPEST = View.centred(0, 1, "1e60", 48, 32)

REFERENCE_JOBS: Mapping[str, Job] = MappingProxyType(
    {
        "float, fused": Job(_WHOLE, 500, number="float", rounding="fused"),
        "float, separate": Job(_WHOLE, 500, number="float", rounding="separate"),
        "double, fused": Job(_SEAHORSE, 2000, number="double", rounding="fused"),
        "double, separate, turned": Job(_TURNED, 2000, number="double", rounding="separate"),
        "fp128": Job(_DEEP, 900, number="fp128", rounding="fixed", method="direct"),
        "fixed:8": Job(_DEEPER, 900, number="fixed:8", rounding="fixed", method="direct"),
        "burning ship": Job(_WHOLE, 300, number="float", rounding="separate", formula=BurningShip()),
        "Julia set": Job(_WHOLE, 300, number="float", rounding="separate", formula=Julia("-0.4", "0.6")),
        "z³ + c": Job(_WHOLE, 300, number="float", rounding="separate", formula=Multibrot3()),
        "perturbation": Job(_DEEPEST, 900, number="float", rounding="fused", method="perturbation"),
    }
)
# SHA-256 of the counts, computed by Intel's runtime, PoCL and rusticl.
DIGESTS: Mapping[str, str] = MappingProxyType(
    {
        "float, fused": "37c60eadb983f10ea3b0af688d18faf932aee7d71be97071e8818015a68a2383",
        "float, separate": "4fa775a83930a64fbe40461e48c3651bd0031425e45d56d6697b12f336a1eb88",
        "double, fused": "8cb0a55cfc89a28730d28b3b5a2f31b2f1cb8d028313f55314950b751543ca61",
        "double, separate, turned": "e8ccf6b8ec3f2dda34366415e81f1a592f11f57af1c73515632ee850d79003ef",
        "fp128": "be2f598d19e62cba8dff5199273ff33872c3fb2474146e791bf7ad240a93e8a8",
        "fixed:8": "7c6e709658eee3ba55f1e5d31dc4bb4313789ac73bcb873aef88077cce4cae3c",
        "burning ship": "6b92c4db36ed783a79985185628597249c2d2fd68c637a350e36f83cf242e974",
        "Julia set": "429fcbc975450e414a79df7b171f46e07dae122f0868ba9c854104a3b945b5a7",
        "z³ + c": "d91ccb78470b65df00f363fbd4b9123b682c205ea69b7733bcfba7d9cbdd75aa",
        "perturbation": "ad8bdd9be4f12e06dc84da834fc5b21f8760c035b447cf500e3d95e540b9030a",
    }
)
