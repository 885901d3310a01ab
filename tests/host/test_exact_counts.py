"""Counts that are proved: against integers of many more bits, and by hand where the answer is known."""

import math
import random
import threading
import time
from fractions import Fraction
from types import SimpleNamespace

import pytest

from mandelcl.base.errors import CancelledError, InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.perturbation import counting
from mandelcl.perturbation.bounded import BoundedOrbit
from mandelcl.perturbation.counting import CountTask, exact_counts
from mandelcl.perturbation.exact import GUARD_BITS, exact_count, exact_outcome, fraction_bits
from mandelcl.perturbation.integers import FASTEST, PLAIN, Integers

FOUR = Fraction(4)


def counted(re: Fraction, im: Fraction, max_iterations: int, radius_squared: Fraction, bits: int) -> int:
    """Return the count in integers of 2^−bits, whatever their error."""
    c, d = math.floor(re * (1 << bits)), math.floor(im * (1 << bits))
    outside = math.floor(radius_squared * (1 << 2 * bits))
    x = y = 0
    for n in range(max_iterations):
        if x * x + y * y > outside:
            return n
        x, y = ((x + y) * (x - y) >> bits) + c, (x * y >> (bits - 1)) + d
    return max_iterations


@pytest.mark.parametrize("radius_squared", [FOUR, FOUR - Fraction(1, 1 << 22), Fraction(9), Fraction(1 << 14)])
def test_points_anywhere(radius_squared: Fraction) -> None:
    numbers = random.Random(7)
    for _ in range(150):
        digits = numbers.choice([10, 1000, 10**9])
        re, im = (Fraction(round(numbers.uniform(-2.1, 1.2) * digits), digits) for _ in range(2))
        max_iterations = numbers.choice([1, 2, 3, 20, 700])
        assert exact_count((re, im), max_iterations, radius_squared, 80) == counted(
            re, im, max_iterations, radius_squared, 3000
        )


@pytest.mark.parametrize(
    ("re", "im", "zoom", "max_iterations"),
    [
        ("-1.768667862837488812627419470", "0.001645580546820209430325900", "5e21", 20000),
        ("0", "1", "1e30", 2000),
        ("-1.768778833", "-0.001738996", "1e6", 3000),
    ],
)
@pytest.mark.parametrize("integers", [PLAIN, FASTEST])
def test_pixels_of_views(re: str, im: str, zoom: str, max_iterations: int, integers: Integers) -> None:
    view = View.centred(re, im, zoom, 640, 360)
    bits = fraction_bits(view.pitch)
    points = [view.point(column, column // 2) for column in range(20, 640, 150)]
    counts = [exact_count(point, max_iterations, FOUR, bits, integers=integers) for point in points]
    assert counts == [counted(*point, max_iterations, FOUR, bits + 600) for point in points]
    assert len(set(counts)) > 2


def test_far_beyond_the_exponents_of_a_double() -> None:
    # Beside c = i orbits come near its repelling cycle: 4·10^−400 takes log(10^400)/log|4(1+i)|·2 steps to leave it.
    view = View.centred(0, 1, "1e400", 64, 64)
    bits = fraction_bits(view.pitch)
    counts = set()
    for column in range(0, 64, 9):
        point = view.point(column, 63 - column // 2)
        count = exact_count(point, 10_000, FOUR, bits)
        assert count == counted(*point, 10_000, FOUR, bits + 200)
        counts.add(count)
    assert len(counts) > 1
    assert all(count is not None and 1000 < count < 1200 for count in counts)


def test_points_beyond_the_tip_escape_immediately() -> None:
    tiny = Fraction(1, 10**1000)
    bits = fraction_bits(tiny)
    assert exact_count((-2 - tiny, Fraction(0)), 50_000, FOUR, bits) == 1
    # On the other side z stays near 2 until its distance, 4 times as large at each step, is seen.
    assert exact_count((-2 + tiny, Fraction(0)), 1_000, FOUR, bits) == 1_000
    count = exact_count((-2 + tiny, tiny), 50_000, FOUR, bits)
    assert count == counted(-2 + tiny, tiny, 50_000, FOUR, bits + 500)
    assert count == pytest.approx(1000 / math.log10(4), abs=10)


@pytest.mark.parametrize(
    ("re", "im", "count"), [(-2, 0, 900), (0, 0, 900), (-1, 0, 900), (0, 1, 900), (0, 2, 2), (2, 0, 2), (1, 1, 2)]
)
def test_whole_numbers_are_exact(re: int, im: int, count: int) -> None:
    assert exact_count((Fraction(re), Fraction(im)), 900, FOUR, 80) == count


@pytest.mark.parametrize(
    ("re", "im"),
    [
        ("-0.5", "0.1"),
        ("0", "1e-50"),
        ("-1.1", "0.05"),
        ("-1.7549", "0.0001"),
        ("-0.12256", "0.74486"),
        ("0.2499", "0"),
    ],
)
def test_orbits_on_their_way_to_a_cycle_end_early(re: str, im: str) -> None:
    steps = []

    def keep_on(done: int) -> bool:
        steps.append(done)
        return done < 100_000

    assert exact_count((Fraction(re), Fraction(im)), 10**9, FOUR, 120, keep_on) == 10**9
    assert steps[-1] < 30_000


def test_orbit_that_leaves_a_cycle_late_is_not_inside() -> None:
    # Just right of the cusp 1/4 an orbit takes π/√ε steps to pass.
    re = Fraction(1, 4) + Fraction(1, 10**8)
    count = exact_count((re, Fraction(0)), 10**6, FOUR, 120)
    assert count == counted(re, Fraction(0), 10**6, FOUR, 400)
    assert count == pytest.approx(math.pi * 10**4, rel=1e-3)


def test_too_few_bits_are_detected() -> None:
    view = View.centred("-1.768667862837488812627419470", "0.001645580546820209430325900", "5e21", 64, 36)
    point = view.point(5, 9)
    true = counted(*point, 20_000, FOUR, 800)
    assert counted(*point, 20_000, FOUR, GUARD_BITS) != true
    assert exact_count(point, 20_000, FOUR, GUARD_BITS) == true


@pytest.mark.parametrize(
    ("re", "im", "zoom", "steps"),
    [
        ("-1.768667862837488812627419470", "0.001645580546820209430325900", "5e21", 3000),
        ("-1.25066", "0.02012", "11764", 70),
        ("0", "1", "1e400", 900),
        # Beside a nucleus of period 3 every third z is tiny.
        ("-1.75487766624669276004950889635852869189460661777279314398928397064610680655126", "0", "1e70", 120),
    ],
)
def test_the_bound_holds_at_every_step(re: str, im: str, zoom: str, steps: int) -> None:
    view = View.centred(re, im, zoom, 640, 360)
    point, bits, more = view.point(33, 44), fraction_bits(view.pitch), 600
    x, y = c, d = [math.floor(part * (1 << bits + more)) for part in point]
    orbit = BoundedOrbit(point, bits, FOUR, lambda _done: True, 0, FASTEST)
    largest, spared = 0.0, 0
    for n in range(2, steps):
        x, y = ((x + y) * (x - y) >> (bits + more)) + c, (x * y >> (bits + more - 1)) + d
        assert orbit.follow(n) is None
        a, b = orbit.place
        off = math.isqrt((x - (int(a) << more)) ** 2 + (y - (int(b) << more)) ** 2)
        assert off < orbit.error << more
        largest, spared = max(largest, off / (orbit.error << more)), max(spared, orbit._spared)
    assert largest > 0.1  # and it is not far above the error
    assert (spared > 0) == (view.pitch < Fraction(1, 10**300))


def test_point_on_the_escape_circle_is_undecided() -> None:
    c = Fraction(7, 3)
    assert exact_count((c, Fraction(0)), 10, c**2, 80) == 2  # z_1 = c is tested exactly
    assert exact_count((c, Fraction(0)), 10, (c**2 + c) ** 2, 80) is None


def test_exact_counts_stop_on_request() -> None:
    assert (
        exact_count((Fraction(26, 100), Fraction(65, 10**5)), 10**9, FOUR, 80, lambda done: done < 10_000) is not None
    )
    boundary = Fraction(1, 4), Fraction(0)  # inside, and too slow to prove
    assert exact_count(boundary, 10**9, FOUR, 80, lambda done: done < 10_000) is None


def test_a_huge_radius_is_refused() -> None:
    assert exact_count((Fraction(1), Fraction(1, 3)), 50, Fraction(1 << 256), 80) == 9
    with pytest.raises(InvalidInputError, match="at most 2\\^128"):
        exact_count((Fraction(1), Fraction(1)), 50, Fraction(1 << 258), 80)


@pytest.mark.parametrize("processes", [1, 2])
def test_many_points_on_several_processes(processes: int) -> None:
    job = Job(View.centred("-1.25066", "0.02012", "1e5", 40, 30), 2000)
    points = [job.view.point(column, 15) for column in range(40)]
    task = CountTask(job.iterations, job.radius_squared, fraction_bits(job.view.pitch))
    done: list[int] = []
    counts = exact_counts(task, points, processes=processes, progress=done.append)
    assert counts == [counted(*point, 2000, FOUR, 500) for point in points]
    assert done == list(range(1, 41))
    assert len(set(counts)) > 5


@pytest.mark.parametrize("processes", [1, 2])
def test_exact_counts_stop_at_the_time_limit(processes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock stands still until a process has started and decided a point."""
    done, begun = threading.Event(), time.monotonic()
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() if done.is_set() else begun)
    monkeypatch.setattr(counting, "time", clock)
    task = CountTask(10**9, FOUR, 2000)
    quick, endless = (Fraction(1), Fraction(1, 3)), (Fraction(1, 4), Fraction(0))
    points = [quick, endless, endless, quick]
    counts = exact_counts(task, points, seconds=1, processes=processes, progress=lambda _done: done.set())
    assert counts[:2] == [2, None]


@pytest.mark.parametrize("processes", [1, 2])
def test_exact_counts_can_be_cancelled(processes: int) -> None:
    class After:
        def __init__(self) -> None:
            self.ends = time.monotonic() + 1

        def is_set(self) -> bool:
            return time.monotonic() > self.ends

    endless = (Fraction(1, 4), Fraction(0))
    with pytest.raises(CancelledError):
        exact_counts(CountTask(10**9, FOUR, 2000), [endless] * 3, processes=processes, cancel=After())


@pytest.mark.parametrize(("re", "im"), [("1e5000", "0"), ("-1e400", "3"), ("2.5", "-1e310")])
def test_points_too_far_out_for_a_double_escape_at_once(re: str, im: str) -> None:
    outcome = exact_outcome((Fraction(re), Fraction(im)), 100, Fraction(4), 64)
    assert outcome is not None
    assert outcome.z is not None
    assert outcome.count == 1
    assert math.hypot(*outcome.z) >= 2.0**60
