"""`torsor.modern_robotics` beside the library of the book: the same numbers, and right where that library is not.

Tolerance. The book's library works in doubles by other formulas, so both sides round: 1e-12 of the largest entry (or of 1)
is some thousand units of that. Its logarithms take the angle from a trace, which costs digits: 1e-10, for angles from 0.1 to
3 rad.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import modern_robotics as book
import numpy as np
import pytest

import torsor
from torsor import Inertia, Joint, Mimic, ModelError, ShapeError, lie, modern_robotics as mr

PUBLIC = sorted(
    name
    for name, value in vars(book).items()
    if inspect.isfunction(value) and value.__module__.startswith("modern_robotics")
)
ROUNDING = 1e-12
LOGARITHM = 1e-10
LOGARITHMS = ("MatrixLog3", "MatrixLog6", "ScrewTrajectory", "CartesianTrajectory", "IKinBody", "IKinSpace")


def arrays(result: Any) -> list[np.ndarray]:
    """A result as arrays, one for each value it returns; a list of poses is one array."""
    return [np.asarray(part, float) for part in (result if isinstance(result, tuple) else (result,))]


# Names


def test_the_book_has_the_functions_we_know_of():
    assert len(PUBLIC) == 47


@pytest.mark.parametrize("name", PUBLIC)
def test_every_function_of_the_book_is_there_with_its_arguments_in_order(name):
    theirs = inspect.signature(getattr(book, name)).parameters
    ours = inspect.signature(getattr(mr, name)).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    assert all(ours[extra].kind is inspect.Parameter.KEYWORD_ONLY for extra in list(ours)[len(theirs) :])


@pytest.mark.parametrize("name", [*PUBLIC, "chain", "lists"])
def test_every_function_says_what_it_is_and_has_types(name):
    function = getattr(mr, name)
    assert "[LP" in (inspect.getdoc(function) or "")
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(p.annotation is not inspect.Parameter.empty for p in signature.parameters.values())


# Random arguments, one maker for every function


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    axis = rng.normal(size=3)
    return lie.so3.exp(rng.uniform(0.1, 3.0) * axis / np.linalg.norm(axis))


def random_pose(rng: np.random.Generator) -> np.ndarray:
    return lie.se3.pose(random_rotation(rng), rng.normal(size=3))


def random_screw(rng: np.random.Generator, kind: str) -> np.ndarray:
    """Revolute, prismatic, helical; capitals are unit screws, small letters any length."""
    axis = rng.normal(size=3)
    axis *= (1.0 if kind.isupper() else rng.uniform(0.5, 2.0)) / np.linalg.norm(axis)
    if kind.upper() == "P":
        return np.concatenate([np.zeros(3), axis])
    return lie.screw(axis, rng.normal(size=3), 0.3 if kind.upper() == "H" else 0.0)


def random_inertia(rng: np.random.Generator) -> np.ndarray:
    spread = rng.normal(size=(3, 3))
    second_moment = 0.1 * spread @ spread.T + 0.05 * np.eye(3)
    G = np.zeros((6, 6))
    G[:3, :3] = np.trace(second_moment) * np.eye(3) - second_moment
    G[3:, 3:] = rng.uniform(0.5, 3.0) * np.eye(3)
    return G


def random_lists(rng: np.random.Generator, kinds: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    Mlist = np.array([random_pose(rng) for _ in range(len(kinds) + 1)])
    Glist = np.array([random_inertia(rng) for _ in kinds])
    return Mlist, Glist, np.transpose([random_screw(rng, kind) for kind in kinds])


MOTIONS: dict[str, Callable[[np.random.Generator], tuple[Any, ...]]] = {
    "NearZero": lambda r: (r.choice([0.0, 9e-7, -9e-7, 1.1e-6, -1.1e-6, 2.0]),),
    "Normalize": lambda r: (r.normal(size=r.integers(1, 7)),),
    "RotInv": lambda r: (random_rotation(r),),
    "VecToso3": lambda r: (r.normal(size=3),),
    "so3ToVec": lambda r: (lie.so3.hat(r.normal(size=3)),),
    "AxisAng3": lambda r: (r.normal(size=3),),
    "MatrixExp3": lambda r: (lie.so3.hat(3 * r.normal(size=3)),),
    "MatrixLog3": lambda r: (random_rotation(r),),
    "DistanceToSO3": lambda r: (random_rotation(r) + 0.01 * r.normal(size=(3, 3)),),
    "TestIfSO3": lambda r: (random_rotation(r) + r.choice([1e-5, 1e-2]) * r.normal(size=(3, 3)),),
    "ProjectToSO3": lambda r: (random_rotation(r) + 0.05 * r.normal(size=(3, 3)),),
    "RpToTrans": lambda r: (random_rotation(r), r.normal(size=3)),
    "TransToRp": lambda r: (random_pose(r),),
    "TransInv": lambda r: (random_pose(r),),
    "VecTose3": lambda r: (r.normal(size=6),),
    "se3ToVec": lambda r: (lie.se3.hat(r.normal(size=6)),),
    "Adjoint": lambda r: (random_pose(r),),
    "ScrewToAxis": lambda r: (r.normal(size=3), random_rotation(r)[0], r.normal()),
    "AxisAng6": lambda r: (
        r.choice([1.0, 1e-8, 0.0]) * np.eye(6, 3) @ r.normal(size=3) + np.eye(6)[3:].T @ r.normal(size=3),
    ),
    "MatrixExp6": lambda r: (lie.se3.hat(r.normal(size=6)),),
    "MatrixLog6": lambda r: (random_pose(r),),
    "DistanceToSE3": lambda r: (random_pose(r) + 0.01 * r.normal(size=(4, 4)),),
    "TestIfSE3": lambda r: (random_pose(r) + r.choice([1e-5, 1e-2]) * r.normal(size=(4, 4)),),
    "ProjectToSE3": lambda r: (random_pose(r) + 0.05 * r.normal(size=(4, 4)),),
    "ad": lambda r: (r.normal(size=6),),
    "CubicTimeScaling": lambda r: (2.0, 2.0 * r.uniform()),
    "QuinticTimeScaling": lambda r: (2.0, 2.0 * r.uniform()),
    "JointTrajectory": lambda r: (r.normal(size=4), r.normal(size=4), r.uniform(1, 3), 7, r.choice([3, 5])),
    "ScrewTrajectory": lambda r: (random_pose(r), random_pose(r), r.uniform(1, 3), 7, r.choice([3, 5])),
    "CartesianTrajectory": lambda r: (random_pose(r), random_pose(r), r.uniform(1, 3), 7, r.choice([3, 5])),
    "EulerStep": lambda r: (*r.normal(size=(3, 5)), 0.1),
}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", MOTIONS)
def test_motions_and_paths_agree_with_the_book(name, seed, same):
    arguments = MOTIONS[name](np.random.default_rng(seed))
    ours, theirs = arrays(getattr(mr, name)(*arguments)), arrays(getattr(book, name)(*arguments))
    assert len(ours) == len(theirs)
    for got, want in zip(ours, theirs, strict=True):
        same(got, want, LOGARITHM if name in LOGARITHMS else ROUNDING, scale=max(1.0, np.abs(want).max()))


def gravity(r: np.random.Generator) -> np.ndarray:
    return 9.8 * random_rotation(r)[0]


def near(r: np.random.Generator, form: str, kinds: str) -> tuple[Any, ...]:
    """Inverse kinematics: screws, home, a target that can be reached, and a guess near the joint variables that do."""
    S, M, theta = random_lists(r, kinds)[2], random_pose(r), r.uniform(-2, 2, size=len(kinds))
    T = getattr(mr, f"FKin{form}")(M, S, theta)
    return S, M, T, theta + 0.1 * r.normal(size=len(kinds)), 1e-3, 1e-3


def control(r: np.random.Generator, kinds: str) -> tuple[Any, ...]:
    n, rows = len(kinds), 4
    Mlist, Glist, Slist = random_lists(r, kinds)
    start, reference = r.normal(size=(2, n)), r.normal(size=(3, rows, n))
    model = (gravity(r), random_lists(r, kinds)[0], 1.1 * Glist)
    Ftipmat = r.normal(size=(rows, 6))
    return *start, gravity(r), Ftipmat, Mlist, Glist, Slist, *reference, *model, 20.0, 10.0, 18.0, 0.01, 3


def moving(r: np.random.Generator, kinds: str, *shape: int) -> tuple[np.ndarray, ...]:
    return tuple(r.normal(size=(3, *shape, len(kinds))))


CHAINS: dict[str, Callable[[np.random.Generator, str], tuple[Any, ...]]] = {
    "FKinBody": lambda r, k: (random_pose(r), random_lists(r, k)[2], r.normal(size=len(k))),
    "FKinSpace": lambda r, k: (random_pose(r), random_lists(r, k)[2], r.normal(size=len(k))),
    "JacobianBody": lambda r, k: (random_lists(r, k)[2], r.normal(size=len(k))),
    "JacobianSpace": lambda r, k: (random_lists(r, k)[2], r.normal(size=len(k))),
    "IKinBody": lambda r, k: near(r, "Body", k),
    "IKinSpace": lambda r, k: near(r, "Space", k),
    "InverseDynamics": lambda r, k: (*moving(r, k), gravity(r), r.normal(size=6), *random_lists(r, k)),
    "MassMatrix": lambda r, k: (r.normal(size=len(k)), *random_lists(r, k)),
    "VelQuadraticForces": lambda r, k: (*moving(r, k)[:2], *random_lists(r, k)),
    "GravityForces": lambda r, k: (r.normal(size=len(k)), gravity(r), *random_lists(r, k)),
    "EndEffectorForces": lambda r, k: (r.normal(size=len(k)), r.normal(size=6), *random_lists(r, k)),
    "ForwardDynamics": lambda r, k: (*moving(r, k), gravity(r), r.normal(size=6), *random_lists(r, k)),
    "InverseDynamicsTrajectory": lambda r, k: (
        *moving(r, k, 5),
        gravity(r),
        r.normal(size=(5, 6)),
        *random_lists(r, k),
    ),
    "ForwardDynamicsTrajectory": lambda r, k: (
        *(*moving(r, k)[:2], r.normal(size=(5, len(k))), gravity(r), r.normal(size=(5, 6))),
        *(*random_lists(r, k), 0.02, 3),
    ),
    "ComputedTorque": lambda r, k: (
        *(*moving(r, k), gravity(r), *random_lists(r, k), *moving(r, k)),
        *r.uniform(1.0, 20.0, size=3),
    ),
    "SimulateControl": control,
}
KINDS = ("R", "P", "h", "RRR", "rPH", "PRRp", "RRRRRR", "HPRrPR")


def test_every_function_is_compared():
    assert sorted({*MOTIONS, *CHAINS}) == PUBLIC


@pytest.fixture
def no_plots(monkeypatch, capsys) -> Iterator[None]:
    """The book's library draws if it can, and says so if it cannot."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    yield
    capsys.readouterr()


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("name", CHAINS)
def test_chains_agree_with_the_book(name, kinds, same, no_plots):
    arguments = CHAINS[name](np.random.default_rng([len(kinds), ord(kinds[-1])]), kinds)
    ours, theirs = arrays(getattr(mr, name)(*arguments)), arrays(getattr(book, name)(*arguments))
    assert len(ours) == len(theirs)
    for got, want in zip(ours, theirs, strict=True):
        same(got, want, LOGARITHM if name in LOGARITHMS else ROUNDING, scale=max(1.0, np.abs(want).max()))


def test_the_book_takes_lists_and_so_do_we(same):
    rng = np.random.default_rng(3)
    Mlist, Glist, Slist = random_lists(rng, "RPR")
    q, v, a = rng.normal(size=(3, 3))
    of_lists = mr.InverseDynamics(
        list(q), tuple(v), list(a), [0, 0, -9.8], [0, 0, 0, 0, 0, 1], list(Mlist), Glist.tolist(), Slist.tolist()
    )
    same(of_lists, book.InverseDynamics(q, v, a, np.array([0, 0, -9.8]), np.eye(6)[5], Mlist, Glist, Slist), ROUNDING)


# The numbers that the book's library documents, for its three-joint robot and its small examples

M01 = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.089159], [0, 0, 0, 1]]
M12 = [[0, 0, 1, 0.28], [0, 1, 0, 0.13585], [-1, 0, 0, 0], [0, 0, 0, 1]]
M23 = [[1, 0, 0, 0], [0, 1, 0, -0.1197], [0, 0, 1, 0.395], [0, 0, 0, 1]]
M34 = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.14225], [0, 0, 0, 1]]
G1 = np.diag([0.010267, 0.010267, 0.00666, 3.7, 3.7, 3.7])
G2 = np.diag([0.22689, 0.22689, 0.0151074, 8.393, 8.393, 8.393])
G3 = np.diag([0.0494433, 0.0494433, 0.004095, 2.275, 2.275, 2.275])
SCREWS = np.array([[1, 0, 1, 0, 1, 0], [0, 1, 0, -0.089, 0, 0], [0, 1, 0, -0.089, 0, 0.425]]).T  # the first: |ω| = √2
THREE = ([M01, M12, M23, M34], [G1, G2, G3], SCREWS)
THETA, RATES, DOWN, ONES = [0.1, 0.1, 0.1], [0.1, 0.2, 0.3], [0, 0, -9.8], [1, 1, 1, 1, 1, 1]
TURN = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
STEP = [[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 3], [0, 0, 0, 1]]
NEAR_R = [[0.675, 0.150, 0.720], [0.370, 0.771, -0.511], [-0.630, 0.619, 0.472]]
NEAREST_R = [
    [0.67901136, 0.14894516, 0.71885945],
    [0.37320708, 0.77319584, -0.51272279],
    [-0.63218672, 0.61642804, 0.46942137],
]
NEAR_T = [[*NEAR_R[0], 1.2], [*NEAR_R[1], 5.4], [*NEAR_R[2], 3.6], [0.003, 0.002, 0.010, 0.9]]
NEAREST_T = [[*NEAREST_R[0], 1.2], [*NEAREST_R[1], 5.4], [*NEAREST_R[2], 3.6], [0, 0, 0, 1]]
HOME = [[-1, 0, 0, 0], [0, 1, 0, 6], [0, 0, -1, 2], [0, 0, 0, 1]]
BODY_SCREWS = np.array([[0, 0, -1, 2, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0.1]]).T
SPACE_SCREWS = np.array([[0, 0, 1, 4, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, -1, -6, 0, -0.1]]).T
REACHED = [[0, 1, 0, -5], [1, 0, 0, 4], [0, 0, -1, 1.68584073], [0, 0, 0, 1]]
TARGET = [[0, 1, 0, -5], [1, 0, 0, 4], [0, 0, -1, 1.6858], [0, 0, 0, 1]]
FOUR = np.array([[0, 0, 1, 0, 0.2, 0.2], [1, 0, 0, 2, 0, 3], [0, 1, 0, 0, 2, 1], [1, 0, 0, 0.2, 0.3, 0.4]]).T
X_START = [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]]
X_END = [[0, 0, 1, 0.1], [1, 0, 0, 0], [0, 1, 0, 4.1], [0, 0, 0, 1]]

DOCUMENTED: dict[str, tuple[tuple[Any, ...], Any, float]] = {  # arguments, result, half a unit of its last digit
    "NearZero": ((-1e-7,), True, 0),
    "Normalize": (([1, 2, 3],), [0.26726124, 0.53452248, 0.80178373], 5e-9),
    "RotInv": ((TURN,), [[0, 1, 0], [0, 0, 1], [1, 0, 0]], 0),
    "VecToso3": (([1, 2, 3],), [[0, -3, 2], [3, 0, -1], [-2, 1, 0]], 0),
    "so3ToVec": (([[0, -3, 2], [3, 0, -1], [-2, 1, 0]],), [1, 2, 3], 0),
    "AxisAng3": (([1, 2, 3],), ([0.26726124, 0.53452248, 0.80178373], 3.7416573867739413), 5e-9),
    "MatrixExp3": (
        ([[0, -3, 2], [3, 0, -1], [-2, 1, 0]],),
        [
            [-0.69492056, 0.71352099, 0.08929286],
            [-0.19200697, -0.30378504, 0.93319235],
            [0.69297817, 0.6313497, 0.34810748],
        ],
        5e-9,
    ),
    "MatrixLog3": (
        (TURN,),
        [[0, -1.20919958, 1.20919958], [1.20919958, 0, -1.20919958], [-1.20919958, 1.20919958, 0]],
        5e-9,
    ),
    "DistanceToSO3": (([[1, 0, 0], [0, 0.1, -0.95], [0, 1, 0.1]],), 0.08835, 5e-6),
    "TestIfSO3": (([[1, 0, 0], [0, 0.1, -0.95], [0, 1, 0.1]],), False, 0),
    "ProjectToSO3": ((NEAR_R,), NEAREST_R, 5e-9),
    "RpToTrans": (
        ([[1, 0, 0], [0, 0, -1], [0, 1, 0]], [1, 2, 5]),
        [[1, 0, 0, 1], [0, 0, -1, 2], [0, 1, 0, 5], [0, 0, 0, 1]],
        0,
    ),
    "TransToRp": ((STEP,), ([[1, 0, 0], [0, 0, -1], [0, 1, 0]], [0, 0, 3]), 0),
    "TransInv": ((STEP,), [[1, 0, 0, 0], [0, 0, 1, -3], [0, -1, 0, 0], [0, 0, 0, 1]], 0),
    "VecTose3": (([1, 2, 3, 4, 5, 6],), [[0, -3, 2, 4], [3, 0, -1, 5], [-2, 1, 0, 6], [0, 0, 0, 0]], 0),
    "se3ToVec": (([[0, -3, 2, 4], [3, 0, -1, 5], [-2, 1, 0, 6], [0, 0, 0, 0]],), [1, 2, 3, 4, 5, 6], 0),
    "Adjoint": (
        (STEP,),
        [
            [1, 0, 0, 0, 0, 0],
            [0, 0, -1, 0, 0, 0],
            [0, 1, 0, 0, 0, 0],
            [0, 0, 3, 1, 0, 0],
            [3, 0, 0, 0, 0, -1],
            [0, 0, 0, 0, 1, 0],
        ],
        0,
    ),
    "ScrewToAxis": (([3, 0, 0], [0, 0, 1], 2), [0, 0, 1, 0, -3, 2], 0),
    "AxisAng6": (([1, 0, 0, 1, 2, 3],), ([1, 0, 0, 1, 2, 3], 1.0), 0),
    "MatrixExp6": (
        ([[0, 0, 0, 0], [0, 0, -1.57079632, 2.35619449], [0, 1.57079632, 0, 2.35619449], [0, 0, 0, 0]],),
        STEP,
        5e-8,  # the argument has eight decimals
    ),
    "MatrixLog6": (
        (STEP,),
        [[0, 0, 0, 0], [0, 0, -1.57079633, 2.35619449], [0, 1.57079633, 0, 2.35619449], [0, 0, 0, 0]],
        5e-9,
    ),
    "DistanceToSE3": (([[1, 0, 0, 1.2], [0, 0.1, -0.95, 1.5], [0, 1, 0.1, -0.9], [0, 0, 0.1, 0.98]],), 0.134931, 5e-7),
    "TestIfSE3": (([[1, 0, 0, 1.2], [0, 0.1, -0.95, 1.5], [0, 1, 0.1, -0.9], [0, 0, 0.1, 0.98]],), False, 0),
    "ProjectToSE3": ((NEAR_T,), NEAREST_T, 5e-9),
    "FKinBody": ((HOME, BODY_SCREWS, [np.pi / 2, 3, np.pi]), REACHED, 5e-9),
    "FKinSpace": ((HOME, SPACE_SCREWS, [np.pi / 2, 3, np.pi]), REACHED, 5e-9),
    "JacobianBody": (
        (FOUR, [0.2, 1.1, 0.1, 1.2]),
        [
            [-0.04528405, 0.99500417, 0, 1],
            [0.74359313, 0.09304865, 0.36235775, 0],
            [-0.66709716, 0.03617541, -0.93203909, 0],
            [2.32586047, 1.66809, 0.56410831, 0.2],
            [-1.44321167, 2.94561275, 1.43306521, 0.3],
            [-2.06639565, 1.82881722, -1.58868628, 0.4],
        ],
        5e-9,
    ),
    "JacobianSpace": (
        (FOUR, [0.2, 1.1, 0.1, 1.2]),
        [
            [0, 0.98006658, -0.09011564, 0.95749426],
            [0, 0.19866933, 0.4445544, 0.28487557],
            [1, 0, 0.89120736, -0.04528405],
            [0, 1.95218638, -2.21635216, -0.51161537],
            [0.2, 0.43654132, -2.43712573, 2.77535713],
            [0.2, 2.96026613, 3.23573065, 2.22512443],
        ],
        5e-9,
    ),
    "IKinBody": (
        (BODY_SCREWS, HOME, TARGET, [1.5, 2.5, 3], 0.01, 0.001),
        ([1.57073819, 2.999667, 3.14153913], True),
        5e-9,
    ),
    "IKinSpace": (
        (SPACE_SCREWS, HOME, TARGET, [1.5, 2.5, 3], 0.01, 0.001),
        ([1.57073783, 2.99966384, 3.1415342], True),
        5e-9,
    ),
    "ad": (
        ([1, 2, 3, 4, 5, 6],),
        [
            [0, -3, 2, 0, 0, 0],
            [3, 0, -1, 0, 0, 0],
            [-2, 1, 0, 0, 0, 0],
            [0, -6, 5, 0, -3, 2],
            [6, 0, -4, 3, 0, -1],
            [-5, 4, 0, -2, 1, 0],
        ],
        0,
    ),
    "InverseDynamics": (
        (THETA, RATES, [2, 1.5, 1], DOWN, ONES, *THREE),
        [74.69616155, -33.06766016, -3.23057314],
        5e-9,
    ),
    "MassMatrix": (
        (THETA, *THREE),
        [
            [2.25433380e01, -3.07146754e-01, -7.18426391e-03],
            [-3.07146754e-01, 1.96850717e00, 4.32157368e-01],
            [-7.18426391e-03, 4.32157368e-01, 1.91630858e-01],
        ],
        5e-8,
    ),
    "VelQuadraticForces": ((THETA, RATES, *THREE), [0.26453118, -0.05505157, -0.00689132], 5e-9),
    "GravityForces": ((THETA, DOWN, *THREE), [28.40331262, -37.64094817, -5.4415892], 5e-9),
    "EndEffectorForces": ((THETA, ONES, *THREE), [1.40954608, 1.85771497, 1.392409], 5e-9),
    "ForwardDynamics": (
        (THETA, RATES, [0.5, 0.6, 0.7], DOWN, ONES, *THREE),
        [-0.97392907, 25.58466784, -32.91499212],
        5e-9,
    ),
    "EulerStep": ((THETA, RATES, [2, 1.5, 1], 0.1), ([0.11, 0.12, 0.13], [0.3, 0.35, 0.4]), 1e-15),
    "CubicTimeScaling": ((2, 0.6), 0.216, 1e-15),
    "QuinticTimeScaling": ((2, 0.6), 0.16308, 1e-15),
    "JointTrajectory": (
        ([1, 0, 0, 1, 1, 0.2, 0, 1], [1.2, 0.5, 0.6, 1.1, 2, 2, 0.9, 1], 4, 6, 3),
        [
            [1, 0, 0, 1, 1, 0.2, 0, 1],
            [1.0208, 0.052, 0.0624, 1.0104, 1.104, 0.3872, 0.0936, 1],
            [1.0704, 0.176, 0.2112, 1.0352, 1.352, 0.8336, 0.3168, 1],
            [1.1296, 0.324, 0.3888, 1.0648, 1.648, 1.3664, 0.5832, 1],
            [1.1792, 0.448, 0.5376, 1.0896, 1.896, 1.8128, 0.8064, 1],
            [1.2, 0.5, 0.6, 1.1, 2, 2, 0.9, 1],
        ],
        1e-14,
    ),
    "ScrewTrajectory": (
        (X_START, X_END, 5, 4, 3),
        [
            X_START,
            [[0.904, -0.25, 0.346, 0.441], [0.346, 0.904, -0.25, 0.529], [-0.25, 0.346, 0.904, 1.601], [0, 0, 0, 1]],
            [[0.346, -0.25, 0.904, -0.117], [0.904, 0.346, -0.25, 0.473], [-0.25, 0.904, 0.346, 3.274], [0, 0, 0, 1]],
            X_END,
        ],
        5e-4,
    ),
    "CartesianTrajectory": (
        (X_START, X_END, 5, 4, 5),
        [
            X_START,
            [[0.937, -0.214, 0.277, 0.811], [0.277, 0.937, -0.214, 0], [-0.214, 0.277, 0.937, 1.651], [0, 0, 0, 1]],
            [[0.277, -0.214, 0.937, 0.289], [0.937, 0.277, -0.214, 0], [-0.214, 0.937, 0.277, 3.449], [0, 0, 0, 1]],
            X_END,
        ],
        5e-4,
    ),
    "ComputedTorque": (
        (THETA, RATES, [0.2, 0.2, 0.2], DOWN, *THREE, [1, 1, 1], [2, 1.2, 2], [0.1, 0.1, 0.1], 1.3, 1.2, 1.1),
        [133.00525246, -29.94223324, -3.03276856],
        5e-9,
    ),
}
WITHOUT_NUMBERS = {"InverseDynamicsTrajectory", "ForwardDynamicsTrajectory", "SimulateControl"}  # documented by plots


def documented(name: str) -> None:
    arguments, expected, within = DOCUMENTED[name]
    for got, want in zip(arrays(getattr(mr, name)(*arguments)), arrays(expected), strict=True):
        assert got.shape == want.shape
        assert np.abs(got - want).max() <= 1.01 * within


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_documented_numbers_of_the_book_are_met(name):
    documented(name)


def test_every_function_with_documented_numbers_is_among_them():
    assert set(DOCUMENTED) | WITHOUT_NUMBERS == set(PUBLIC)


def test_a_wrong_documented_number_would_be_noticed(monkeypatch):
    arguments, expected, within = DOCUMENTED["ForwardDynamics"]
    monkeypatch.setitem(DOCUMENTED, "ForwardDynamics", (arguments, [*expected[:2], expected[2] + 1e-7], within))
    with pytest.raises(AssertionError):
        documented("ForwardDynamics")


# What the book's library documents by plots


def documented_reference(rows: int) -> tuple[np.ndarray, ...]:
    """The quintic reference of its examples, differenced as there."""
    theta = mr.JointTrajectory(THETA, [np.pi / 2, np.pi, 1.5 * np.pi], 1.0, rows, 5)
    dt = 1.0 / (rows - 1)
    rates, second = np.zeros_like(theta), np.zeros_like(theta)
    rates[1:] = np.diff(theta, axis=0) / dt
    second[1:] = np.diff(rates, axis=0) / dt
    return theta, rates, second


def test_the_documented_torque_history_agrees(same):
    reference = documented_reference(40)
    arguments = (*reference, np.array(DOWN), np.ones((40, 6)), *map(np.array, THREE))
    same(mr.InverseDynamicsTrajectory(*arguments), book.InverseDynamicsTrajectory(*arguments), ROUNDING)


def test_the_documented_motion_agrees(same):
    taumat = [[3.63, -6.58, -5.57], [3.74, -5.55, -5.5], [4.31, -0.68, -5.19], [5.18, 5.63, -4.31], [5.85, 8.17, -2.59]]
    taumat += [[5.78, 2.79, -1.7], [4.99, -5.3, -1.19], [4.08, -9.41, 0.07], [3.56, -10.1, 0.97], [3.49, -9.41, 1.23]]
    lists = tuple(map(np.array, THREE))
    arguments = (np.array(THETA), np.array(RATES), np.array(taumat), np.array(DOWN), np.ones((10, 6)), *lists, 0.1, 8)
    for got, want in zip(
        mr.ForwardDynamicsTrajectory(*arguments), book.ForwardDynamicsTrajectory(*arguments), strict=True
    ):
        same(got, want, ROUNDING)


def test_the_documented_control_agrees(same, no_plots):
    """A model that is wrong in gravity, frames and inertias; 20 of the 100 rows, since the book's loop is slow."""
    Mtilde = np.array(THREE[0], float)
    Mtilde[:, :3, 3] = [[0, 0, 0.1], [0.3, 0.2, 0], [0, -0.2, 0.4], [0, 0, 0.2]]
    Gtilde = np.array(
        [np.diag([0.1, 0.1, 0.1, 4, 4, 4]), np.diag([0.3, 0.3, 0.1, 9, 9, 9]), np.diag([0.1, 0.1, 0.1, 3, 3, 3])]
    )
    reference = tuple(part[:20] for part in documented_reference(100))
    arguments = (np.array(THETA), np.array(RATES), np.array(DOWN), np.ones((20, 6)), *map(np.array, THREE), *reference)
    arguments += (np.array([0.8, 0.2, -8.8]), Mtilde, Gtilde, 20, 10, 18, 1 / 99, 8)
    for got, want in zip(mr.SimulateControl(*arguments), book.SimulateControl(*arguments), strict=True):
        same(got, want, ROUNDING)


def test_a_zero_instead_of_tip_forces_means_none(same):
    q, v, a = documented_reference(6)
    none = np.zeros((6, 6))
    for Ftipmat in (0, 0.0, none):
        same(
            mr.InverseDynamicsTrajectory(q, v, a, DOWN, Ftipmat, *THREE),
            book.InverseDynamicsTrajectory(q, v, a, np.array(DOWN), none, *map(np.array, THREE)),
            ROUNDING,
        )
        still = mr.ForwardDynamicsTrajectory(q[0], v[0], a, DOWN, Ftipmat, *THREE, 0.01, 2)
        same(still[1], mr.ForwardDynamicsTrajectory(q[0], v[0], a, DOWN, none, *THREE, 0.01, 2)[1], 0.0)


# Corners, where the book's library is not exact

AXIS = np.array([2.0, -1.0, 2.0]) / 3.0


@pytest.mark.parametrize("angle", [1e-12, 1e-9, 1e-7, 9e-7, 1e-4])
def test_small_rotations_are_not_lost(angle):
    R = mr.MatrixExp3(mr.VecToso3(angle * AXIS))
    np.testing.assert_allclose(mr.so3ToVec(0.5 * (R - R.T)), np.sin(angle) * AXIS, rtol=1e-13)
    np.testing.assert_allclose(mr.so3ToVec(mr.MatrixLog3(R)), angle * AXIS, rtol=1e-12)
    screw = np.concatenate([angle * AXIS, [1.0, 2.0, 3.0]])
    T = mr.MatrixExp6(mr.VecTose3(screw))
    half = [1.0, 2.0, 3.0] + 0.5 * np.cross(angle * AXIS, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(T[:3, 3], half, atol=angle**2)  # v + ½ ω × v + O(θ²)
    np.testing.assert_allclose(mr.se3ToVec(mr.MatrixLog6(T)), screw, rtol=1e-12)


@pytest.mark.parametrize("below", [1e-3, 1e-6, 1e-9, 1e-12])
def test_the_logarithm_is_accurate_close_to_half_a_turn(below):
    for sign in (1.0, -1.0):
        w = sign * (np.pi - below) * AXIS
        np.testing.assert_allclose(mr.so3ToVec(mr.MatrixLog3(mr.MatrixExp3(mr.VecToso3(w)))), w, atol=1e-14)


@pytest.mark.parametrize("axis", [[1, 0, 0], [0, 1, 0], [0, 0, 1], AXIS, -AXIS])
def test_at_half_a_turn_the_logarithm_is_the_books_up_to_the_sign_of_the_axis(axis, same):
    R = 2.0 * np.outer(axis, axis) - np.eye(3)
    got, want = mr.MatrixLog3(R), book.MatrixLog3(R)
    same(got if np.sum(got * want) > 0 else -got, want, ROUNDING)
    same(mr.MatrixExp3(got), R, ROUNDING)
    same(mr.MatrixExp6(mr.MatrixLog6(lie.se3.pose(R, [1.0, 2.0, 3.0]))), lie.se3.pose(R, [1.0, 2.0, 3.0]), ROUNDING)


def test_half_a_turn_is_never_taken_for_none():
    """With a trace that is rounded to just above −1 the book's library finds no rotation at all, about this axis say."""
    axis = np.array([0.6, -0.8, 0.0])
    R = 2.0 * np.outer(axis, axis) - np.eye(3)
    np.testing.assert_allclose(np.abs(mr.so3ToVec(mr.MatrixLog3(R))), np.pi * np.abs(axis), rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(mr.MatrixExp3(mr.MatrixLog3(R)), R, atol=1e-15)


def test_no_motion_has_zero_logarithm_and_no_axis():
    np.testing.assert_array_equal(mr.MatrixLog3(np.eye(3)), np.zeros((3, 3)))
    np.testing.assert_array_equal(mr.MatrixLog6(np.eye(4)), np.zeros((4, 4)))
    np.testing.assert_array_equal(mr.MatrixExp6(np.zeros((4, 4))), np.eye(4))
    for axis, angle in (mr.AxisAng3([0, 0, 0]), mr.AxisAng6([0] * 6)):
        assert angle == 0.0
        assert not np.any(axis)
    np.testing.assert_array_equal(mr.Normalize([0, 0]), [0, 0])


def test_a_translation_has_its_length_for_angle():
    S, theta = mr.AxisAng6([0, 0, 0, 0, 3, 4])
    np.testing.assert_allclose(S, [0, 0, 0, 0, 0.6, 0.8])
    assert theta == 5.0


def test_the_projection_is_the_nearest_rotation_for_reflections_too():
    """The book's library gives diag(1, −1, −1) here, at a distance of 2.2; the identity is at 1.2."""
    np.testing.assert_allclose(mr.ProjectToSO3(np.diag([1.0, -0.2, 1.0])), np.eye(3), atol=1e-15)
    rng = np.random.default_rng(0)
    mat = -random_rotation(rng) + 0.1 * rng.normal(size=(3, 3))
    nearest = mr.ProjectToSO3(mat)
    assert mr.TestIfSO3(nearest)
    others = [random_rotation(rng) for _ in range(200)] + [
        nearest @ lie.so3.exp(0.01 * w) for w in rng.normal(size=(50, 3))
    ]
    assert all(np.linalg.norm(mat - nearest) <= np.linalg.norm(mat - other) for other in others)


@pytest.mark.parametrize("function", [mr.DistanceToSO3, mr.DistanceToSE3])
def test_without_positive_determinant_the_distance_is_large(function):
    size = 3 if function is mr.DistanceToSO3 else 4
    for mat in (-np.eye(size), np.zeros((size, size))):
        assert function(mat) == 1e9


def test_tests_of_the_groups_give_plain_booleans():
    assert mr.TestIfSO3(np.eye(3)) is True
    assert mr.TestIfSE3(np.eye(4) + 1e-2) is False
    assert mr.NearZero(0) is True


def test_a_screw_axis_is_normalised_and_may_have_infinite_pitch():
    np.testing.assert_allclose(mr.ScrewToAxis([3, 0, 0], [0, 0, 2], 2), [0, 0, 1, 0, -3, 2])
    np.testing.assert_allclose(mr.ScrewToAxis([3, 0, 0], [0, 0, 2], np.inf), [0, 0, 0, 0, 0, 1])


def test_results_may_be_changed():
    """No result is a view of an argument or of something kept."""
    T = np.eye(4)
    R, p = mr.TransToRp(T)
    R[:], p[:] = 7.0, 7.0
    for X in mr.ScrewTrajectory(T, T, 1, 2, 3) + mr.CartesianTrajectory(T, T, 1, 2, 3) + [mr.TransInv(T)]:
        X[:] = 7.0
    mr.RotInv(T[:3, :3])[:] = 7.0
    mr.Normalize(T[0])[:] = 7.0
    np.testing.assert_array_equal(T, np.eye(4))
    M = mr.MassMatrix(THETA, *THREE)
    M[:] = 7.0
    documented("MassMatrix")


@pytest.mark.parametrize("method", [3, 5])
def test_paths_begin_and_end_exactly_where_they_should(method):
    rng = np.random.default_rng(1)
    start, end = rng.normal(size=(2, 5))
    path = mr.JointTrajectory(start, end, 0.7, 8, method)
    np.testing.assert_array_equal(path[[0, -1]], [start, end])
    X, Y = random_pose(rng), random_pose(rng)
    for poses in (mr.ScrewTrajectory(X, Y, 0.7, 8, method), mr.CartesianTrajectory(X, Y, 0.7, 8, method)):
        np.testing.assert_array_equal([poses[0], poses[-1]], [X, Y])
        assert all(np.abs(T[:3, :3] @ T[:3, :3].T - np.eye(3)).max() < 1e-14 for T in poses)


def test_a_time_that_is_the_end_but_for_rounding_is_the_end():
    assert mr.CubicTimeScaling(0.3, 0.1 * 3) == 1.0
    assert mr.QuinticTimeScaling(0.3, 0.1 * 3) == 1.0
    assert mr.CubicTimeScaling(2, 0) == 0.0


# Inverse kinematics


def six_joints() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(12)
    return random_lists(rng, "RRRRRR")[2], random_pose(rng)


def test_inverse_kinematics_to_ten_digits():
    S, M = six_joints()
    theta = np.array([0.3, -0.2, 0.5, 0.1, -0.4, 0.2])
    found, success = mr.IKinSpace(S, M, mr.FKinSpace(M, S, theta), theta + 0.05, 1e-10, 1e-10)
    assert success is True
    np.testing.assert_allclose(found, theta, atol=1e-8)
    B = lie.transform_twist_inverse(M, S.T).T
    found, success = mr.IKinBody(B, M, mr.FKinBody(M, B, theta), theta + 0.05, 1e-10, 1e-10)
    assert success is True
    np.testing.assert_allclose(found, theta, atol=1e-8)


def test_a_target_out_of_reach_is_said_to_be_so():
    found, success = mr.IKinBody(BODY_SCREWS, HOME, mr.RpToTrans(np.eye(3), [100, 0, 0]), [1.5, 2.5, 3], 1e-2, 1e-3)
    assert success is False
    assert found.shape == (3,)


def test_the_number_of_steps_can_be_chosen_and_none_gives_the_guess_back():
    arguments = DOCUMENTED["IKinBody"][0]
    found, success = mr.IKinBody(*arguments, maxiterations=0)
    assert success is False
    np.testing.assert_array_equal(found, arguments[3])
    assert not mr.IKinBody(*arguments, maxiterations=1)[1]
    assert mr.IKinBody(*arguments, maxiterations=20)[1]


def test_a_guess_that_is_already_right_is_kept():
    guess = np.array([0.1, 0.2, 0.3])
    target = mr.FKinSpace(HOME, SPACE_SCREWS, guess)
    found, success = mr.IKinSpace(SPACE_SCREWS, HOME, target, guess, 1e-6, 1e-6)
    assert success
    np.testing.assert_array_equal(found, guess)
    assert not np.shares_memory(found, guess)


def test_a_guess_that_is_no_number_fails_without_noise():
    found, success = mr.IKinSpace(SPACE_SCREWS, HOME, TARGET, [np.nan, 0, 0], 1e-2, 1e-3)
    assert success is False
    assert np.isnan(found[0])


@pytest.mark.parametrize("bend", [0.0, 1e-13])
def test_a_straight_arm_can_be_the_guess(bend):
    """A planar 3R arm stretched out, but for rounding: no motion along itself, and none may be made up."""
    S = np.array([[0, 0, 1, 0, 0, 0], [0, 0, 1, 0, -1, 0], [0, 0, 1, 0, -2, 0]]).T
    M = mr.RpToTrans(np.eye(3), [3, 0, 0])
    T = mr.FKinSpace(M, S, [0.2, 0.3, 0.4])
    found, success = mr.IKinSpace(S, M, T, [0, bend, bend], 1e-6, 1e-6)
    assert success
    assert np.abs(found).max() < np.pi
    np.testing.assert_allclose(mr.FKinSpace(M, S, found), T, atol=1e-5)


def test_a_target_with_three_printed_digits_stands_for_the_pose_nearest_to_it():
    """The residue of the rounding is not an error of the joints, however small the tolerance."""
    S, M = six_joints()
    theta = np.array([0.3, -0.2, 0.5, 0.1, -0.4, 0.2])
    T = np.round(mr.FKinSpace(M, S, theta), 3)
    assert np.abs(T[:3, :3] @ T[:3, :3].T - np.eye(3)).max() > 1e-4
    found, success = mr.IKinSpace(S, M, T, theta, 1e-9, 1e-9)
    assert success
    np.testing.assert_allclose(mr.FKinSpace(M, S, found), mr.ProjectToSE3(T), atol=1e-8)


@pytest.mark.parametrize(
    "call",
    [
        lambda R, T: mr.MatrixLog3(R),
        lambda R, T: mr.RpToTrans(R, [1, 2, 3]),
        lambda R, T: mr.TransInv(T),
        lambda R, T: mr.Adjoint(T),
        lambda R, T: mr.MatrixLog6(T),
        lambda R, T: mr.ScrewTrajectory(T, np.eye(4), 1.0, 3, 3),
        lambda R, T: mr.CartesianTrajectory(np.eye(4), T, 1.0, 3, 3),
    ],
)
def test_rotations_with_two_printed_digits_pass(call):
    """As the page says; `torsor.lie` itself is stricter."""
    for seed in range(5):
        T = np.round(lie.se3.exp(np.random.default_rng(seed).normal(size=6)), 2)
        with pytest.raises(ModelError):
            lie.Ad(T)
        call(T[:3, :3], T)


# The sign of Ftip, and inertias away from the centre of mass


def test_the_tip_force_is_what_the_tip_does_to_the_environment():
    """A vertical lift of 2 kg that presses upwards with 5 N must drive with its weight plus 5 N."""
    lift = ([np.eye(4), np.eye(4)], [np.diag([1, 1, 1, 2.0, 2, 2])], np.array([[0, 0, 0, 0, 0, 1.0]]).T)
    up = [0, 0, 0, 0, 0, 5.0]
    np.testing.assert_allclose(mr.InverseDynamics([0.3], [0], [0], [0, 0, -10.0], up, *lift), [25.0])
    np.testing.assert_allclose(mr.EndEffectorForces([0.3], up, *lift), [5.0])
    np.testing.assert_allclose(mr.ForwardDynamics([0.3], [0], [25.0], [0, 0, -10.0], up, *lift), [0.0], atol=1e-15)
    np.testing.assert_allclose(mr.ForwardDynamics([0.3], [0], [25.0], [0, 0, -10.0], [0] * 6, *lift), [2.5])


def test_the_tip_force_of_the_book_is_the_opposite_of_an_external_wrench(same):
    rng = np.random.default_rng(8)
    lists = random_lists(rng, "RPRH")
    q, v, a = rng.normal(size=(3, 4))
    g, Ftip = gravity(rng), rng.normal(size=6)
    robot = mr.chain(*lists, g)
    same(
        mr.InverseDynamics(q, v, a, g, Ftip, *lists),
        torsor.inverse_dynamics(robot, q, v, a, wrenches={"tip": -Ftip}),
        ROUNDING,
    )
    same(
        mr.ForwardDynamics(q, v, a, g, Ftip, *lists),
        torsor.forward_dynamics(robot, q, v, a, wrenches={"tip": -Ftip}),
        ROUNDING,
    )
    along = mr.InverseDynamics(q, v, a, g, Ftip, *lists) - mr.InverseDynamics(q, v, a, g, np.zeros(6), *lists)
    same(along, torsor.body_jacobian(robot, q, "tip").T @ Ftip, ROUNDING, scale=100.0)


def test_inertias_need_not_be_at_the_centre_of_mass(same):
    rng = np.random.default_rng(2)
    Mlist, Glist, Slist = random_lists(rng, "RRP")
    Glist = np.array([Inertia(2.0, rng.normal(size=3), G[:3, :3]).matrix for G in Glist])
    assert np.abs(Glist[:, :3, 3:]).max() > 1.0
    q, v, a = rng.normal(size=(3, 3))
    arguments = (q, v, a, gravity(rng), rng.normal(size=6), Mlist, Glist, Slist)
    same(mr.InverseDynamics(*arguments), book.InverseDynamics(*arguments), ROUNDING)


def test_the_forces_are_the_sum_of_their_parts(same):
    tau = mr.MassMatrix(THETA, *THREE) @ [2, 1.5, 1] + mr.VelQuadraticForces(THETA, RATES, *THREE)
    tau += mr.GravityForces(THETA, DOWN, *THREE) + mr.EndEffectorForces(THETA, ONES, *THREE)
    same(mr.InverseDynamics(THETA, RATES, [2, 1.5, 1], DOWN, ONES, *THREE), tau, ROUNDING)


def test_gains_may_differ_between_joints(same):
    arguments = DOCUMENTED["ComputedTorque"][0]
    equal = mr.ComputedTorque(*arguments[:10], [1.3] * 3, [1.2] * 3, [1.1] * 3)
    same(equal, mr.ComputedTorque(*arguments), 0.0)
    error = np.array([0.9, 0.9, 0.9])
    stiff = mr.ComputedTorque(*arguments[:10], [1.3, 1.3, 2.3], 1.2, 1.1)
    same(stiff - equal, mr.MassMatrix(THETA, *THREE)[:, 2] * error[2], ROUNDING, scale=100.0)


# Robots from lists and back


def test_the_chain_of_the_books_lists_is_a_robot(same):
    robot = mr.chain(*THREE)
    assert robot.joints == ("joint_1", "joint_2", "joint_3")
    assert robot.frames[-1] == "tip"
    np.testing.assert_array_equal(robot.gravity, [0, 0, -9.81])
    same(torsor.mass_matrix(robot, THETA), mr.MassMatrix(THETA, *THREE), ROUNDING)
    M = np.linalg.multi_dot([np.array(M, float) for M in THREE[0]])
    same(torsor.frame_pose(robot, THETA, "tip"), mr.FKinSpace(M, SCREWS, THETA), ROUNDING)


def test_equal_numbers_give_the_same_robot_and_changed_ones_another():
    Mlist, Glist, Slist = (np.array(part, float) for part in THREE)
    first = mr.chain(Mlist, Glist, Slist)
    assert mr.chain(Mlist.tolist(), list(Glist), Slist.copy()) is first
    before = mr.MassMatrix(THETA, Mlist, Glist, Slist)
    Glist[0] *= 2.0  # in place: the key is the content
    assert mr.chain(Mlist, Glist, Slist) is not first
    assert np.abs(mr.MassMatrix(THETA, Mlist, Glist, Slist) - before).max() > 0.01
    assert mr.chain(*THREE, DOWN) is not first


@pytest.mark.parametrize("kinds", KINDS)
def test_lists_are_the_inverse_of_chain(kinds, same):
    lists = random_lists(np.random.default_rng(4), kinds)
    for got, want in zip(mr.lists(mr.chain(*lists)), lists, strict=True):
        same(got, want, ROUNDING)


def without_armature(robot: torsor.Robot) -> torsor.Robot:
    return robot.with_parameters(armature=np.zeros(robot.nv))


ZOO = {
    "panda": (torsor.robots.panda, "hand_tcp"),
    "ur5": (torsor.robots.ur5, "tool0"),
    "puma560": (lambda: without_armature(torsor.robots.puma560()), None),
    "cart_pole": (torsor.robots.cart_pole, None),  # point masses
}


@pytest.mark.parametrize("name", ZOO)
def test_the_book_computes_with_our_robots(name, same):
    """Our robot as the book's lists, in the book's own library: frames at the centres of mass, inertias about them."""
    make, frame = ZOO[name]
    robot = make()
    lists = mr.lists(robot, frame=frame)
    n = robot.nv
    assert [part.shape for part in lists] == [(n + 1, 4, 4), (n, 6, 6), (6, n)]
    assert not np.any(lists[1][:, :3, 3:])
    q, v, a = torsor.random_state(robot, seed=3)
    F = np.arange(1.0, 7.0)
    end = {frame or "tip": -F}
    same(
        book.InverseDynamics(q, v, a, robot.gravity, F, *lists),
        torsor.inverse_dynamics(robot, q, v, a, wrenches=end),
        ROUNDING,
    )
    M = np.linalg.multi_dot(lists[0])
    same(book.FKinSpace(M, lists[2], q), torsor.frame_pose(robot, q, frame or "tip"), ROUNDING)


def test_without_a_tip_the_end_frame_is_that_of_the_last_link(same):
    robot = torsor.robots.panda()
    Mlist, _, Slist = mr.lists(robot)
    q = np.linspace(-0.5, 0.5, 7)
    same(mr.FKinSpace(np.linalg.multi_dot(Mlist), Slist, q), torsor.frame_pose(robot, q, "link_7"), ROUNDING)
    elsewhere = robot.with_frame("tip", "link_3", np.eye(4))
    same(mr.lists(elsewhere)[0], Mlist, 0.0)


def branching() -> torsor.Robot:
    body = Inertia(1.0, rotational=np.eye(3))
    joints = [Joint(name="a", kind="revolute", axis=(0, 0, 1), link="A", inertia=body)]
    joints += [Joint(name=n, kind="revolute", axis=(1, 0, 0), parent="A", link=n.upper(), inertia=body) for n in "bc"]
    return torsor.assemble(joints, name="fork")


def one_joint(**options: Any) -> torsor.Robot:
    first = Joint(name="first", kind="revolute", axis=(0, 0, 1), link="A", inertia=Inertia(1.0, rotational=np.eye(3)))
    second = {"name": "second", "kind": "revolute", "axis": (0, 1, 0), "parent": "A", "link": "B", **options}
    return torsor.assemble([first, Joint(**second)], name="pair")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (branching, r"robot 'fork' is a tree.*robot\.lock\(\{'b': 0\.0, \.\.\.\}\): b\."),
        (lambda: one_joint(kind="spherical", axis=None), r"joint 'second' is spherical"),
        (lambda: one_joint(mimic=Mimic("first")), "has mimic joints"),
        (lambda: one_joint(armature=0.1), r"has armature.*with_parameters\(armature=np\.zeros\(2\)\)"),
        (lambda: one_joint(viscous_friction=0.1), "has viscous friction"),
        (lambda: one_joint(coulomb_friction=0.1), "has coulomb friction"),
        (lambda: one_joint().reorder(["second", "first"]), r"another order.*robot\.reorder\(robot\.joints\)"),
    ],
)
def test_what_the_books_lists_cannot_say_is_refused(make, message):
    with pytest.raises(ModelError, match=message):
        mr.lists(make())


def test_the_advice_for_a_tree_works():
    Mlist, Glist, Slist = mr.lists(branching().lock({"b": 0.0}))
    assert (Mlist.shape, Glist.shape, Slist.shape) == ((3, 4, 4), (2, 6, 6), (6, 2))


def test_the_end_frame_must_sit_on_the_last_link():
    with pytest.raises(ModelError, match="must sit on the last link 'link_7'; 'link_3' does not"):
        mr.lists(torsor.robots.panda(), frame="link_3")
    with pytest.raises(torsor.UnknownName, match="hand_tcp"):
        mr.lists(torsor.robots.panda(), frame="hand_tpc")


# As users run it


@pytest.mark.compiled
@pytest.mark.parametrize("name", [name for name in DOCUMENTED if name in CHAINS])
def test_the_documented_numbers_are_met_by_compiled_functions_on_every_call(name):
    documented(name)
    documented(name)


# Errors

LISTS = random_lists(np.random.default_rng(0), "RRR")
STATE = np.zeros(3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda M, G, S: mr.MassMatrix(STATE, M, G, S.T),
            ShapeError,
            r"MassMatrix: `Slist` must be 6×n, one screw axis \(ω, v\) per column; got shape \(3, 6\)\. "
            r"Screws in rows: pass `Slist\.T`\.",
        ),
        (
            lambda M, G, S: mr.JacobianBody(S[:, 0], [0.0]),
            ShapeError,
            r"`Blist` must be 6×n.*For one joint pass a column: `np\.reshape\(Blist, \(6, 1\)\)`",
        ),
        (
            lambda M, G, S: mr.MassMatrix(STATE, M[:3], G, S),
            ShapeError,
            r"`Mlist` must be the n \+ 1 home poses.*last the end frame.*shape \(4, 4, 4\); got shape \(3, 4, 4\)",
        ),
        (
            lambda M, G, S: mr.MassMatrix(STATE, M, G[:2], S),
            ShapeError,
            r"`Glist` must be the n spatial inertias.*centre of mass.*shape \(3, 6, 6\); got shape \(2, 6, 6\)",
        ),
        (lambda M, G, S: mr.MassMatrix(STATE, [M[0], [1, 2]], G, S), ShapeError, "`Mlist` must be the n"),
        (
            lambda M, G, S: mr.GravityForces(STATE, 9.8, M, G, S),
            ShapeError,
            r"GravityForces: `g` must be the gravitational acceleration in the space frame, such as \(0, 0, -9.8\): shape \(3,\)",
        ),
        (
            lambda M, G, S: mr.EndEffectorForces(STATE, [1, 2, 3], M, G, S),
            ShapeError,
            "`Ftip` must be the wrench .moment, force. that the tip applies to the environment",
        ),
        (
            lambda M, G, S: mr.InverseDynamics([0, 0], STATE, STATE, DOWN, np.zeros(6), M, G, S),
            ShapeError,
            r"InverseDynamics: `thetalist` must be one number per joint.*shape \(3,\); got shape \(2,\)",
        ),
        (
            lambda M, G, S: mr.InverseDynamicsTrajectory(
                np.zeros((5, 3)), np.zeros((4, 3)), np.zeros((5, 3)), DOWN, 0, M, G, S
            ),
            ShapeError,
            r"`dthetamat` must be N×n.*shape \(5, 3\); got shape \(4, 3\)",
        ),
        (
            lambda M, G, S: mr.InverseDynamicsTrajectory(*np.zeros((3, 5, 3)), DOWN, np.zeros((4, 6)), M, G, S),
            ShapeError,
            r"`Ftipmat` must be one row for each row of the trajectory.*shape \(5, 6\)",
        ),
        (
            lambda M, G, S: mr.MassMatrix(STATE, M, [*G[:2], np.diag([1, 1, 1, 2, 2, 3.0])], S),
            ModelError,
            r"MassMatrix: Glist\[2\] is no spatial inertia\. .*not of the form",
        ),
        (
            lambda M, G, S: mr.MassMatrix(STATE, np.round(M, 3), G, S),
            ModelError,
            r"MassMatrix: Mlist\[0\].*not a rotation.*ProjectToSE3",
        ),
        (
            lambda M, G, S: mr.MassMatrix(STATE, M, G, S * [1, 0, 1]),
            ModelError,
            "MassMatrix: column 1 of `Slist` must be a screw axis, finite and not all zero",
        ),
        (lambda M, G, S: mr.FKinSpace(np.zeros((4, 4)), S, STATE), ModelError, "FKinSpace: `M`: bottom row"),
        (lambda M, G, S: mr.FKinSpace(M, S, STATE), ShapeError, r"`M` must be the home pose.*got shape \(4, 4, 4\)"),
        (
            lambda M, G, S: mr.IKinSpace(S, M[0], M[1], STATE, 0.0, 1e-3),
            ModelError,
            "`eomg` must be the tolerance.*positive",
        ),
        (lambda M, G, S: mr.IKinSpace(S, M[0], -M[1], STATE, 1e-3, 1e-3), ModelError, "`T` must be a homogeneous"),
        (
            lambda M, G, S: mr.ForwardDynamicsTrajectory(STATE, STATE, np.zeros((4, 3)), DOWN, 0, M, G, S, 0.1, 1.5),
            ModelError,
            "`intRes` must be the number of Euler steps between rows, a whole number of at least 1; got 1.5",
        ),
        (
            lambda M, G, S: mr.ForwardDynamicsTrajectory(STATE, STATE, np.zeros((4, 3)), DOWN, 0, M, G, S, -0.1, 1),
            ModelError,
            "`dt` must be the time between rows, s, positive",
        ),
        (
            lambda M, G, S: mr.ComputedTorque(STATE, STATE, STATE, DOWN, M, G, S, STATE, STATE, STATE, np.eye(3), 0, 0),
            ShapeError,
            r"`Kp` must be a gain, one number or one per joint \(3,\); got shape \(3, 3\)",
        ),
        (lambda M, G, S: mr.so3ToVec(np.eye(3)), ModelError, "must be skew-symmetric.*MatrixLog3"),
        (lambda M, G, S: mr.se3ToVec(np.eye(4)), ModelError, r"bottom row is \[0.0, 0.0, 0.0, 1.0\].*MatrixLog6"),
        (lambda M, G, S: mr.MatrixLog3(2 * np.eye(3)), ModelError, "R Rᵀ differs from 1 by up to 3.*ProjectToSO3"),
        (lambda M, G, S: mr.MatrixLog3(-np.eye(3)), ModelError, "reflection"),
        (lambda M, G, S: mr.TransInv(2 * np.eye(4)), ModelError, "TransInv: `T` must be a homogeneous transformation"),
        (
            lambda M, G, S: mr.VecToso3([1, 2]),
            ShapeError,
            r"VecToso3: `omg` must be a 3-vector: shape \(3,\); got shape \(2,\)",
        ),
        (lambda M, G, S: mr.VecTose3("twist"), ShapeError, "VecTose3: `V` must be a twist .*; got 'twist'"),
        (lambda M, G, S: mr.ScrewToAxis([0, 0, 0], [0, 0, 0], 1), ModelError, "`s` must be the direction of the axis"),
        (lambda M, G, S: mr.CubicTimeScaling(2, 3), ModelError, "`t` must lie between 0 and Tf = 2 s; got 3 s"),
        (lambda M, G, S: mr.QuinticTimeScaling(0, 0), ModelError, "`Tf` must be the duration, s, positive"),
        (
            lambda M, G, S: mr.JointTrajectory([0], [1], 1, 1, 3),
            ModelError,
            "`N` must be the number of points.*at least 2",
        ),
        (
            lambda M, G, S: mr.JointTrajectory([0], [1], 1, 3, 4),
            ModelError,
            r"`method` must be 3 \(cubic\) or 5 \(quintic\); got 4",
        ),
        (
            lambda M, G, S: mr.EulerStep([0, 0], [1], [0, 0], 0.1),
            ShapeError,
            "EulerStep: `dthetalist` must be one number per",
        ),
    ],
)
def test_mistakes_are_answered_in_the_words_of_the_book(call, error, message):
    with pytest.raises(error, match=re.compile(message, re.DOTALL)):
        call(*LISTS)


def test_a_joint_that_moves_nothing_is_named():
    with pytest.raises(ModelError, match="'joint_3' moves no inertia"):
        mr.ForwardDynamics(
            STATE, STATE, STATE, DOWN, np.zeros(6), LISTS[0], [*LISTS[1][:2], np.zeros((6, 6))], LISTS[2]
        )


# The page


@pytest.mark.compiled
def test_every_line_of_the_page_runs():
    page = (Path(__file__).parents[2] / "docs" / "modern_robotics.md").read_text()
    code = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert code
    seen: dict[str, Any] = {}
    exec(compile("\n".join(code), "modern_robotics.md", "exec"), seen)
    np.testing.assert_allclose(seen["tau"], DOCUMENTED["InverseDynamics"][1], atol=5e-9)
    np.testing.assert_allclose(seen["same_tau"], seen["tau"], rtol=1e-12)
