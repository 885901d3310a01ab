"""The HPC report's published tables: milliseconds and counts by resolution, threads and work-group.

CPU: Core i9-12900K (8 fast and 8 slow cores, 24 threads). GPU: NVIDIA T400; its times include allocation and copy.
"""

from collections.abc import Mapping

RESOLUTIONS = (500, 1000, 1500, 2000)
THREADS = (1, 2, 4, 8, 16, 24)
SIDES = (1, 2, 4, 8, 16)

TESTS = {500: (849, 837), 1000: (3391, 3347), 1500: (7627, 7464), 2000: (13559, 13357)}  # table 1: |z| ≥ 2, |z|² ≥ 4
SAVED = {500: 1.38, 1000: 1.31, 1500: 2.13, 2000: 1.49}  # % of the first, as printed
DIFFERING = {500: 7559, 1000: 29687, 1500: 53872, 2000: 118307}  # table 5: float against double in vectors
FLOAT = {500: 168, 1000: 645, 1500: 1409, 2000: 2540}  # table 4, vectors with FMA, one thread
WITHOUT_FMA = {500: 331, 1000: 1301, 1500: 2863, 2000: 5051}  # table 7, double
GPU_FLOAT = {500: 194, 1000: 565, 1500: 1187, 2000: 2035}  # table 11, 16 × 16

_DYNAMIC = {  # tables 2, 3 and 8: plain, by threads
    500: (799, 406, 204, 104, 67, 56),
    1000: (3166, 1617, 811, 411, 257, 208),
    1500: (7092, 3623, 1820, 916, 562, 461),
    2000: (12645, 6455, 3243, 1630, 999, 812),
}
_STATIC = {  # table 2
    500: (809, 405, 334, 204, 128, 100),
    1000: (3205, 1605, 1323, 800, 507, 376),
    1500: (7115, 3598, 2953, 1780, 1111, 812),
    2000: (12764, 6385, 5278, 3206, 1897, 1458),
}
_VECTORS = {  # table 10: vectors with FMA, dynamic
    500: (313, 159, 84, 42, 28, 24),
    1000: (1217, 612, 308, 158, 95, 74),
    1500: (2687, 1358, 684, 348, 206, 155),
    2000: (4733, 2399, 1202, 613, 360, 270),
}
WORK_GROUPS: Mapping[int, tuple[tuple[int, ...], ...]] = {  # table 13: a line for each number of columns, SIDES of rows
    500: (
        (5162, 2637, 1369, 731, 400),
        (2636, 1359, 721, 400, 232),
        (1367, 716, 399, 225, 233),
        (729, 400, 232, 232, 226),
        (410, 239, 227, 240, 234),
    ),
    1000: (
        (20637, 10416, 5289, 2708, 1415),
        (10416, 5271, 2689, 1398, 746),
        (5283, 2688, 1390, 742, 742),
        (2712, 1396, 739, 739, 738),
        (1409, 744, 746, 747, 742),
    ),
    1500: (
        (46377, 23345, 11782, 5978, 3068),
        (23285, 11746, 5950, 3041, 1581),
        (11757, 5947, 3034, 1568, 1568),
        (5975, 3044, 1564, 1571, 1567),
        (3071, 1574, 1584, 1578, 1582),
    ),
    2000: (
        (81670, 41061, 20698, 10473, 5353),
        (41074, 20679, 10447, 5310, 2735),
        (20703, 10449, 5305, 2714, 2713),
        (10481, 5311, 2716, 2713, 2716),
        (5349, 2731, 2730, 2731, 2733),
    ),
}


def threads_ms(resolution: int, threads: int, in_vectors: bool, dynamic: bool) -> int | None:
    """Return the published time of the CPU in double; None if there is none."""
    if threads not in THREADS or resolution not in RESOLUTIONS or (in_vectors and not dynamic):
        return None
    table = _VECTORS if in_vectors else _DYNAMIC if dynamic else _STATIC
    return table[resolution][THREADS.index(threads)]


def work_group_ms(resolution: int, columns: int, rows: int) -> int | None:
    """Return the published time of the GPU in double with such work-groups; None if there is none."""
    if resolution not in RESOLUTIONS or columns not in SIDES or rows not in SIDES:
        return None
    return WORK_GROUPS[resolution][SIDES.index(columns)][SIDES.index(rows)]
