"""Words of 32 bits: what kernels are given and leave behind."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Words: TypeAlias = npt.NDArray[np.uint32]

WORD_MASK = 0xFFFFFFFF  # all bits of a word

# Where a count is expected: none is known, none was written. The largest cap is one less, so no count is this.
NO_COUNT = WORD_MASK
