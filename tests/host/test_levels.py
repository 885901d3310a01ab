"""Which tests a run takes: without an option each on one device, with `--full` each value of each parameter."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import levels
from tests.levels import covering

cases = st.lists(st.fixed_dictionaries({name: st.integers(0, 5) for name in "abc"}), min_size=1, max_size=60)


@settings(deadline=None)
@given(cases, st.integers(0, 1 << 32))
def test_every_value_occurs(cases: list[dict[str, int]], seed: int) -> None:
    chosen = [cases[k] for k in covering(cases, seed)]
    values = {pair for case in cases for pair in case.items()}
    assert {pair for case in chosen for pair in case.items()} == values
    assert len(chosen) <= len(values)


def test_combination_count_equals_longest_axis() -> None:
    product = [{"device": k % 3, "number": k // 3 % 2, "place": k // 6} for k in range(42)]
    assert [len(covering(product, seed)) for seed in range(50)] == [7] * 50
    assert len({tuple(covering(product, seed)) for seed in range(50)}) > 10


def test_few_kernels_are_built() -> None:
    product = [{"device": k % 3, "number": k // 3 % 2, "place": k // 6} for k in range(420)]
    for seed in range(20):
        chosen = [product[k] for k in covering(product, seed)]
        assert len(chosen) == 70
        assert len({(case["device"], case["number"]) for case in chosen}) == 3


@settings(deadline=None)
@given(cases, st.integers(0, 1 << 32))
def test_a_free_axis_costs_no_case(cases: list[dict[str, int]], seed: int) -> None:
    chosen = [cases[k] for k in covering(cases, seed, free=("a",))]
    assert len(chosen) <= len({pair for case in cases for pair in case.items() if pair[0] != "a"})
    assert {case[name] for name in "bc" for case in chosen} == {case[name] for name in "bc" for case in cases}


def test_each_value_of_a_free_axis_is_chosen_by_some_seed() -> None:
    product = [{"device": k % 4, "place": k // 4} for k in range(20)]
    chosen = [[product[k] for k in covering(product, seed, free=("device",))] for seed in range(50)]
    assert {len(one) for one in chosen} == {5}
    assert [len({case["device"] for case in one}) for one in chosen] == [1] * 50
    assert {case["device"] for one in chosen for case in one} == {0, 1, 2, 3}


def test_parts_have_each_test_once(request: pytest.FixtureRequest) -> None:
    """But for quick ones, which are in each; the cases of one test are together."""
    items = request.session.items
    parts = [levels.in_part(items, number, 3)[0] for number in (1, 2, 3)]
    found = Counter(item.nodeid for part in parts for item in part)
    assert all(found[item.nodeid] == (1 if item.get_closest_marker("full") else 3) for item in items)
    of = [{item.nodeid.partition("[")[0] for item in part if item.get_closest_marker("full")} for part in parts]
    assert not of[0] & of[1] | of[0] & of[2] | of[1] & of[2]


def test_a_test_without_parameters_runs() -> None:
    assert covering([{}], 5) == [0]


def test_a_whole_run_has_each_device_with_each_number_and_rounding(request: pytest.FixtureRequest) -> None:
    items = request.session.items
    if len({item.path for item in items}) < 200:
        pytest.skip("only a part of the tests runs")
    from tests.device.targets import targets

    parameters = [getattr(item, "callspec", None) for item in items if not item.get_closest_marker("skip")]
    run = {callspec.params.get("target") for callspec in parameters if callspec is not None}
    assert run >= {parameter.values[0] for parameter in targets() if not parameter.marks}
