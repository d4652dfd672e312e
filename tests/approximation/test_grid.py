"""Weights between the vertices of a grid, and the codes by which vertices are known."""

import math

import numpy as np
import pytest

from aapi.approximation.grid import CORNERS, code_steps, find_simplex, read_point
from aapi.memory import layout


def lay_grid(seen):
    """The grid over what was seen."""
    return layout.lay_grid(layout.Extent.of(seen), seen)


def around(grid, observation):
    """The codes, weights and places of the vertices around an observation."""
    point = np.empty(len(grid.first))
    read_point(grid, np.asarray(observation, dtype=np.float64), point)
    codes, order = np.empty((2, CORNERS), dtype=np.int64)
    weights, parts, corners = np.empty(CORNERS), np.empty(CORNERS), np.empty((CORNERS, len(point)))
    number = find_simplex(grid, point, codes, weights, corners, order, parts)
    return codes[:number], weights[:number], corners[:number]


@pytest.mark.parametrize("dimension", [1, 2, 4, 8])
def test_linear_functions_are_reproduced(dimension):
    random = np.random.default_rng(dimension)
    seen = random.normal(size=(50, dimension))
    grid = lay_grid(seen)
    for observation in seen:
        _, weights, corners = around(grid, observation)
        assert weights.min() >= 0.0
        assert weights.sum() == pytest.approx(1.0)
        assert weights @ corners == pytest.approx(observation)


def test_a_vertex_has_one_code_from_all_sides():
    grid = lay_grid(np.array([[0.0, 0.5], [1.5, 7.25]]))
    x, y = grid.knots[0, 3], grid.knots[1, 5]
    codes = {int(around(grid, (x + dx, y + dy))[0][np.argmax(around(grid, (x + dx, y + dy))[1])])
             for dx in (-1e-9, 0.0, 1e-9) for dy in (-1e-9, 0.0, 1e-9)}  # fmt: skip
    assert codes == {3 * int(grid.steps[0]) + 5 * int(grid.steps[1]) & (1 << 64) - 1} or len(codes) == 1


def test_beyond_the_grid_is_its_edge():
    grid = lay_grid(np.array([[0.0], [1.5]]))
    assert around(grid, [99.0])[0].tolist() == around(grid, [1.5])[0].tolist()
    assert around(grid, [-99.0])[0].tolist() == around(grid, [0.0])[0].tolist()


def test_angles_go_round():
    angles = np.linspace(-3.0, 3.0, 40)
    grid = lay_grid(np.stack([np.cos(angles), np.sin(angles)], axis=1))
    assert grid.second.tolist() == [1]
    near = [set(around(grid, (math.cos(a), math.sin(a)))[0].tolist()) for a in (math.pi - 0.01, -math.pi + 0.01)]
    assert near[0] & near[1]  # the vertex at ±π


def test_whole_numbers_are_a_table():
    seen = np.random.default_rng(0).integers(0, 2, size=(30, 50)).astype(float)
    grid = lay_grid(seen)
    assert grid.sides.max() == 2
    codes = [around(grid, each)[0].tolist() for each in np.unique(seen, axis=0)]
    assert all(len(each) == 1 for each in codes)
    assert len({each[0] for each in codes}) == len(codes)


def test_many_coordinates_take_the_nearest_vertex():
    seen = np.random.default_rng(0).normal(size=(30, 12))
    assert [len(around(lay_grid(seen), each)[0]) for each in seen] == [1] * 30


def test_steps_of_codes_are_odd_and_apart():
    steps = code_steps(64)
    assert (steps % 2 != 0).all()
    assert len(set(steps.tolist())) == 64


def test_whole_numbers_in_too_many_vectors_are_spread_by_how_often_they_were_seen():
    random = np.random.default_rng(0)
    seen = np.minimum(random.geometric(0.3, size=(5000, 4)) - 1, 20).astype(float)
    grid = lay_grid(np.concatenate([seen, random.integers(0, 2, size=(5000, 1))], axis=1))
    places = [knots[:side].tolist() for knots, side in zip(grid.knots, grid.sides, strict=True)]
    for number in range(4):
        held, ranked = places[number], sorted(seen[:, number])
        assert {0.0, seen[:, number].max()} <= set(held) <= set(range(21))
        assert ranked[4999 * 4 // 7] in held  # of eight along four coordinates
    assert places[4] == [0.0, 1.0]
    few = random.integers(0, 6, size=(5000, 3)).astype(float)  # 216 vectors are a table
    assert lay_grid(few).sides.tolist() == [6, 6, 6]


def test_what_never_changes_makes_no_grid_coarser():
    line = np.linspace(0.0, 1.0, 30)
    seen = np.stack([line, np.full(30, 0.3), np.full(30, 1e300)], axis=1)
    assert lay_grid(seen).sides.tolist() == [50, 1, 1]


def test_vertices_are_counted_along_what_is_interpolated():
    random = np.random.default_rng(1)
    rows, angles = random.normal(size=(400, 3)), random.uniform(-3.0, 3.0, size=400)
    whole = random.integers(0, 4, size=(400, 2)).astype(float)
    seen = np.column_stack([rows, np.cos(angles), np.sin(angles), whole, np.full(400, 0.3)])
    extent = layout.Extent.of(seen)
    assert layout.num_interpolated(lay_grid(seen), extent) == 8.0**4  # three numbers and an angle
    assert layout.num_interpolated(lay_grid(whole), layout.Extent.of(whole)) == 1.0
    crowded = np.minimum(random.geometric(0.3, size=(5000, 4)) - 1, 20).astype(float)
    grid = lay_grid(crowded)
    assert layout.num_interpolated(grid, layout.Extent.of(crowded)) == np.prod(grid.sides)
