"""What the book's functions take: numbers, rotations, poses and the lists of an open chain, read once and checked, with the
book's words in the answer; and the robots made from the lists, each once, found by its numbers.

Mlist   (n + 1, 4, 4)   link frame {i} seen from {i−1} at home, m; the last is the end frame {n+1} seen from {n}
Glist   (n, 6, 6)       spatial inertia of link i in frame {i}, which the book puts at the centre of mass; kg, kg·m²
Slist   (6, n)          screw axes (ω, v) in the space frame at home, one per column; m
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.foreign import refuse_foreign
from torsor.arrays.typing import Algebra, Array, Matrix3, Pose, Rotation, Vector3
from torsor.border import explained
from torsor.errors import ModelError, ShapeError, warn_of_model
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.model import Inertia, Robot, link_form, serial_chain
from torsor.model._assemble import EARTH
from torsor.model.inertia import refuse_unphysical
from torsor.model.joint_kinds import KINDS
from torsor.model.poses import check_pose

KEPT = 256  # robots in memory; the least recently used go first
TIP = "tip"  # the name of the end frame {n+1}
WRITTEN_DIGITS = 1e-3  # of the largest principal moment: what three printed digits may be off
_WEIGHTLESS = np.zeros(3)
_POSES = (
    "the n + 1 home poses M01, M12, …: link frame {i} seen from {i−1}, and last the end frame seen from link n; "
    "n is the number of columns of `Slist`"
)
_INERTIAS = (
    "the n spatial inertias G1, G2, … of the links, 6×6, (angular, linear), each in its own link frame at the centre "
    "of mass; n is the number of columns of `Slist`"
)
PRINTED = 0.02  # what two printed digits of a rotation matrix may leave in R Rᵀ − 1
_SKEW = 1e-6  # of the largest entry: what a computed matrix of so(3) may have on its symmetric side


@explained
def chain(Mlist: Array, Glist: Array, Slist: Array, g: Vector3 = EARTH) -> Robot:
    """The `torsor.Robot` of the book's lists: from here, every function of torsor is open [LP, (9.35)–(9.40), E002-4].

    Joints are named joint_1 …, links link_1 …, the end frame "tip". Screws may have any length and pitch: joint i moves by
    exp([S_i] θ_i). The same numbers give the same robot, so that what was compiled is found again. Moments of inertia that no
    body has, beyond what three printed digits may be off, are used as they are, with a `ModelWarning`.

    Parameters
    ----------
    Mlist : (n + 1, 4, 4) array
        Link frame {i} seen from {i−1} at home, and last the end frame {n+1} seen from {n}; m.
    Glist : (n, 6, 6) array
        Spatial inertias of the links, each in its own frame; kg, kg·m².
    Slist : (6, n) array
        Screw axes (ω, v) in the space frame at home, one per column; m.
    g : (3,) array
        Acceleration of gravity in the space frame, m/s².

    Returns
    -------
    Robot
    """
    return robot_of(Mlist, Glist, Slist, g)


@explained
def lists(robot: Robot, *, frame: str | None = None) -> tuple[Array, Array, Array]:
    """The book's lists of a serial chain: the inverse of `chain` [LP, (9.35)–(9.40), E002-4].

    Link frames are moved to the centres of mass (axes kept), as the book wants them. Gravity is not in the lists: pass
    `robot.gravity` as ``g``. What the lists cannot say is refused: trees, mimic joints, joints with several degrees of freedom,
    armature, friction and springs.

    Parameters
    ----------
    robot : Robot
    frame : str, optional
        The end frame {n+1}, which must sit on the last link: "tip" if there is one on it, else the last link's own
        frame.

    Returns
    -------
    Mlist : (n + 1, 4, 4) array
        m.
    Glist : (n, 6, 6) array
        kg, kg·m².
    Slist : (6, n) array
        m.
    """
    _refuse_what_lists_cannot_say(robot)
    form = link_form(robot, _end_frame(robot, frame))
    refuse_unphysical("lists", robot)
    bodies = [robot.inertia(link) for link in robot.links]
    T_ic = [se3.pose(np.eye(3), body.com) for body in bodies]
    steps = [
        se3.inverse(before) @ M @ after for before, M, after in zip([np.eye(4), *T_ic], form.steps, T_ic, strict=False)
    ]
    Mlist = np.array([*steps, se3.inverse(T_ic[-1]) @ form.tip])
    Glist = np.array([lie.inertia_matrix(lie.inertia_row(body.mass, np.zeros(3), body.rotational)) for body in bodies])
    return Mlist, Glist, np.ascontiguousarray(form.to_space().screws.T)


def robot_of(Mlist: Any, Glist: Any, Slist: Any, g: Any = _WEIGHTLESS) -> Robot:
    """The robot of the lists (without gravity by default), made once for the same numbers."""
    S = screws_of("Slist", Slist)
    n = S.shape[1]
    M = numbers("Mlist", Mlist, (n + 1, 4, 4), _POSES)
    G = numbers("Glist", Glist, (n, 6, 6), _INERTIAS)
    g = numbers("g", g, (3,), "the gravitational acceleration in the space frame, such as (0, 0, -9.8)")
    robot, doubts = _robot(n, M.tobytes(), G.tobytes(), S.tobytes(), g.tobytes())
    if doubts:
        warn_of_model(
            f"no body has the inertia {doubts}. It is used as given, and accelerations may be those of no machine; "
            "`torsor.Inertia.from_matrix(G).violations()` is empty for what a body can have."
        )
    return robot


def arm_of(name: str, screws: Any, home: Any = None) -> Robot:
    """The massless chain of screws ``name`` ("Slist" or "Blist") and a home pose, for kinematics; made once."""
    S = screws_of(name, screws)
    M = np.eye(4) if home is None else numbers("M", home, (4, 4), "the home pose of the end frame, 4×4")
    return _arm(S.shape[1], S.tobytes(), M.tobytes(), name)


def screws_of(name: str, screws: Any) -> Array:
    """Screw axes (6, n), one per column, n at least 1."""
    meaning = "6×n, one screw axis (ω, v) per column"
    S = as_floats(name, screws, meaning)
    if S.ndim != 2 or S.shape[0] != 6 or S.shape[1] == 0:
        advice = ""
        if S.ndim == 2 and S.shape[1] == 6:
            advice = f" Screws in rows: pass `{name}.T`."
        elif S.shape == (6,):
            advice = f" For one joint pass a column: `np.reshape({name}, (6, 1))`."
        raise ShapeError(f"`{name}` must be {meaning}; got shape {S.shape}.{advice}")
    return S


def joint_vector(name: str, value: Any, robot: Robot) -> Array:
    """One number per joint (n,)."""
    return numbers(name, value, (robot.nv,), "one number per joint, as many as the lists have screw axes")


def joint_vectors(robot: Robot, **vectors: Any) -> list[Array]:
    """The same of several, each with its name in the book."""
    return [joint_vector(name, value, robot) for name, value in vectors.items()]


@lru_cache(maxsize=KEPT)
def _robot(n: int, M: bytes, G: bytes, S: bytes, g: bytes) -> tuple[Robot, str]:
    """The robot, and what is wrong with its bodies. Its geometry and its bodies are made once each: one may change alone."""
    chain, bodies = _chain(n, M, S), [_body(i, G[288 * i : 288 * (i + 1)]) for i in range(n)]
    doubts = [f"Glist[{i}]: {body.doubt}" for i, body in enumerate(bodies) if body.doubt]
    numbers = {"inertias": np.array([body.row for body in bodies]), "gravity": _unpacked(g, 3)}
    return Robot(chain.structure, chain.parameters._replace(**numbers).frozen()), "; nor ".join(doubts)


@lru_cache(maxsize=KEPT)
def _chain(n: int, M: bytes, S: bytes) -> Robot:
    """The chain without its bodies."""
    steps = [_home(f"Mlist[{i}]", step) for i, step in enumerate(_unpacked(M, n + 1, 4, 4))]
    homes = [steps[0]]
    for step in steps[1:]:
        homes.append(homes[-1] @ step)
    screws = _checked_screws("Slist", _unpacked(S, 6, n).T)
    return serial_chain(screws, np.array(homes[:n]), [Inertia.zero()] * n, tip=homes[n])


@lru_cache(maxsize=KEPT)
def _arm(n: int, screws: bytes, M: bytes, name: str) -> Robot:
    """All link frames sit in the space frame at home, so that their screws are the given ones."""
    home = _home("`M`", _unpacked(M, 4, 4))
    S = _checked_screws(name, _unpacked(screws, 6, n).T)
    if name == "Blist":
        S = lie.transform_twist(home, S)
    return serial_chain(S, np.array([np.eye(4)] * n), [Inertia.zero()] * n, tip=home)


def _unpacked(content: bytes, *shape: int) -> Array:
    return np.frombuffer(content).reshape(shape)


def _home(what: str, M: Array) -> Array:
    try:
        return check_pose(what, M)
    except ModelError as error:
        raise ModelError(f"{error} ProjectToSE3 gives the pose nearest to rounded numbers.") from None


class _Body(NamedTuple):
    """A link as the equations take it, and what no real body has of it."""

    row: Array
    doubt: str


def _body(i: int, G: bytes) -> _Body:
    try:
        return _body_of(G)
    except ModelError as error:
        raise ModelError(f"Glist[{i}] is no spatial inertia. {error}") from None


@lru_cache(maxsize=8 * KEPT)
def _body_of(G: bytes) -> _Body:
    body = Inertia.from_matrix(_unpacked(G, 6, 6))
    return _Body(body.row, _doubt(body))


def _doubt(body: Inertia) -> str:
    """What no real body has, if it is more than the rounding of who wrote the moments down; else nothing."""
    if not (wrong := body.violations()):
        return ""
    slack = WRITTEN_DIGITS * np.linalg.eigvalsh(body.rotational)[-1]
    rounded = Inertia(
        body.mass, body.com, body.rotational + slack * np.eye(3)
    )  # the triangle inequality with that much room
    return "; ".join(wrong) if rounded.violations() else ""


def _checked_screws(name: str, screws: Array) -> Array:
    for i, S in enumerate(screws):
        if not (np.all(np.isfinite(S)) and np.any(S)):
            raise ModelError(f"column {i} of `{name}` must be a screw axis, finite and not all zero; got {S.tolist()}.")
    return screws


def _end_frame(robot: Robot, frame: str | None) -> str:
    last = robot.links[-1]
    if frame is None:
        named = next((f for f in robot.structure.frames if f.name == TIP), None)
        return TIP if named is not None and named.link == robot.n - 1 else last
    if robot.structure.frame(frame).link != robot.n - 1:
        raise ModelError(f"the end frame must sit on the last link {last!r}; {frame!r} does not.")
    return frame


def _refuse_what_lists_cannot_say(robot: Robot) -> None:
    s, p = robot.structure, robot.parameters
    this = f"robot {robot.name!r}"
    spine = s.path_from_base(robot.n - 1)
    if len(spine) != robot.n:
        beside = [s.joints[i] for i in range(robot.n) if i not in spine]
        raise ModelError(
            f"{this} is a tree, and the book's lists describe one open chain, each link on the one before it. Hold the joints "
            f"of the other branches first, robot.lock({{{beside[0]!r}: 0.0, ...}}): {', '.join(beside)}."
        )
    for joint, kind in zip(s.joints, s.kinds, strict=True):
        if not KINDS[kind].has_screw:
            raise ModelError(f"{this}: joint {joint!r} is {kind}; the book's joints have one screw axis each.")
    if s.has_couplings:
        raise ModelError(f"{this} has mimic joints; the book's joints each have a variable of their own.")
    if robot.coordinates != robot.joints:
        raise ModelError(f"{this} has q in another order than its joints: pass robot.reorder(robot.joints).")
    for effect in ("armature", "viscous_friction", "coulomb_friction", "stiffness"):
        if np.any(getattr(p, effect)):
            raise ModelError(
                f"{this} has {effect.replace('_', ' ')}, for which the book's lists have no place: leave it out with "
                f"robot.with_parameters({effect}=np.zeros({robot.nv}))."
            )


def numbers(name: str, value: Any, shape: tuple[int, ...], meaning: str) -> Array:
    """``value`` as float64 of exactly ``shape``, or a ShapeError that says what ``name`` means in the book."""
    array = as_floats(name, value, meaning)
    if array.shape != shape:
        wanted = f"shape {shape}" if shape else "one number"
        raise ShapeError(f"`{name}` must be {meaning}: {wanted}; got shape {array.shape}.")
    return array


def as_floats(name: str, value: Any, meaning: str) -> Array:
    """``value`` as an array of float64 of any shape."""
    refuse_foreign(value, name)
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(f"`{name}` must be {meaning}; got {value!r:.80}.") from None


def rotation(name: str, value: Any) -> Rotation:
    """A rotation matrix (3, 3); one that was rounded when it was printed is let through as it is."""
    R = numbers(name, value, (3, 3), "a rotation matrix, 3×3")
    _check_rotation(f"`{name}` must be a rotation matrix", R, "ProjectToSO3")
    return R


def pose(name: str, value: Any) -> Pose:
    """A homogeneous transformation (4, 4), m; rounded entries are let through as they are."""
    T = numbers(name, value, (4, 4), "a homogeneous transformation (R, p; 0, 1), 4×4")
    what = f"`{name}` must be a homogeneous transformation (R, p; 0, 1)"
    if np.any(np.abs(T[3] - (0.0, 0.0, 0.0, 1.0)) > PRINTED):
        raise ModelError(f"{what}; its bottom row is {T[3].tolist()}.")
    _check_rotation(what, T[:3, :3], "ProjectToSE3")
    return T


def so3_matrix(name: str, value: Any) -> Matrix3:
    """A skew-symmetric matrix (3, 3)."""
    W = numbers(name, value, (3, 3), "a matrix of so(3), skew-symmetric, 3×3")
    _check_skew(f"`{name}` must be skew-symmetric, a matrix of so(3)", W, "MatrixLog3")
    return W


def se3_matrix(name: str, value: Any) -> Algebra:
    """A matrix ([ω], v; 0, 0) of se(3), (4, 4)."""
    X = numbers(name, value, (4, 4), "a matrix ([ω], v; 0, 0) of se(3), 4×4")
    what = f"`{name}` must be a matrix ([ω], v; 0, 0) of se(3)"
    if np.any(X[3] != 0.0):
        raise ModelError(f"{what}; its bottom row is {X[3].tolist()}. A pose becomes one by MatrixLog6.")
    _check_skew(what, X[:3, :3], "MatrixLog6")
    return X


def positive(name: str, value: Any, meaning: str) -> float:
    """A positive finite number."""
    number = float(numbers(name, value, (), meaning))
    if not 0.0 < number < np.inf:
        raise ModelError(f"`{name}` must be {meaning}, positive and finite; got {number:g}.")
    return number


def whole(name: str, value: Any, least: int, meaning: str) -> int:
    """A whole number, at least ``least`` (4.0 will do)."""
    number = float(numbers(name, value, (), meaning))
    if not (np.isfinite(number) and number == int(number) and number >= least):
        raise ModelError(f"`{name}` must be {meaning}, a whole number of at least {least}; got {number:g}.")
    return int(number)


def _check_rotation(what: str, R: Rotation, cure: str) -> None:
    defect = np.abs(R @ R.T - np.eye(3)).max()
    if defect > PRINTED:
        raise ModelError(
            f"{what}: R Rᵀ differs from 1 by up to {defect:.3g}. {cure} gives the nearest one, if this one is only rounded."
        )
    if np.linalg.det(R) < 0:
        raise ModelError(f"{what}: this one is a reflection (determinant −1); one axis is flipped.")


def _check_skew(what: str, W: Matrix3, source: str) -> None:
    if np.abs(W + W.T).max() > _SKEW * np.abs(W).max():
        raise ModelError(
            f"{what}; W + Wᵀ has entries up to {np.abs(W + W.T).max():.3g}. A rotation becomes one by {source}."
        )
