"""What the properties are tried on: screws, poses, bodies, robots and states, with the awkward ones among them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import torsor
from torsor.model._assemble import disassemble, frames_of

PI = np.pi
ONE_NUMBER = ("revolute", "prismatic", "helical")
ALL_KINDS = (*ONE_NUMBER, "planar", "spherical", "free")
BATCHES = ((), (1,), (3,), (2, 3), (0,))

seeds = st.integers(0, 2**20)


def sized(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers whose exponents are spread evenly: 10^low … 10^high."""
    return st.floats(low, high).map(lambda exponent: 10.0**exponent)


# Angles, lengths, directions

tiny = sized(-12, -3)
moderate_angles = st.one_of(
    st.floats(0.01, 3.0), sized(-3, 0), st.sampled_from([1.0, PI / 2, 2.0, 2.0 - 1e-9, 2.0 + 1e-9])
)
angles_near_pi = st.one_of(st.just(PI), tiny.map(lambda x: PI - x), tiny.map(lambda x: PI + x))
angles_up_to_pi = st.one_of(st.just(0.0), tiny, moderate_angles, tiny.map(lambda x: PI - x))
all_angles = st.one_of(st.just(0.0), tiny, moderate_angles, angles_near_pi, sized(0, 6))
lengths = st.one_of(st.just(0.0), tiny, st.just(1.0), st.floats(0.01, 3.0))
all_lengths = st.one_of(lengths, sized(0, 6))

axes = st.sampled_from([s * e for e in np.eye(3) for s in (1.0, -1.0)])


def _unit(seed: int) -> np.ndarray:
    x = np.random.default_rng(seed).normal(size=3)
    return x / np.linalg.norm(x)


directions = st.one_of(axes, seeds.map(_unit))


# Elements of the group and its algebra


@st.composite
def rotation_vectors(draw: st.DrawFn, angles: st.SearchStrategy[float] = all_angles) -> np.ndarray:
    """w (3,), rad."""
    return draw(directions) * draw(angles)


@st.composite
def twists(
    draw: st.DrawFn,
    angles: st.SearchStrategy[float] = all_angles,
    lengths: st.SearchStrategy[float] = lengths,
) -> np.ndarray:
    """Screws (6,) of every sort: zero, tiny, revolute, prismatic, helical, of any length."""
    w, v = draw(rotation_vectors(angles)), draw(directions) * draw(lengths)
    sort = draw(st.sampled_from(["any", "revolute", "prismatic", "along the axis"]))
    if sort == "revolute":
        v = np.cross(w, v)
    elif sort == "prismatic":
        w = np.zeros(3)
    elif sort == "along the axis":
        v = np.linalg.norm(v) * (w / np.linalg.norm(w) if w.any() else v)
    return np.concatenate([w, v])


moderate_twists = twists(st.one_of(st.just(0.0), tiny, st.floats(0.01, 10.0)), lengths)
vectors6 = seeds.map(lambda seed: np.random.default_rng(seed).normal(size=6))
vectors3 = seeds.map(lambda seed: np.random.default_rng(seed).normal(size=3))


def pose_of(w: np.ndarray, p: np.ndarray) -> np.ndarray:
    """A pose from rotation vector and translation, without the library under test."""
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(w).as_matrix()
    T[:3, 3] = p
    return T


@st.composite
def poses(
    draw: st.DrawFn,
    angles: st.SearchStrategy[float] = all_angles,
    lengths: st.SearchStrategy[float] = lengths,
) -> np.ndarray:
    """Poses (4, 4): rotations by any angle, the identity and half turns among them."""
    return pose_of(draw(rotation_vectors(angles)), draw(directions) * draw(lengths))


@st.composite
def quaternions(draw: st.DrawFn) -> np.ndarray:
    """Quaternions (4,) of length 0.1 … 10 and either sign."""
    quat = Rotation.from_rotvec(draw(rotation_vectors())).as_quat()
    return quat * draw(sized(-1, 1)) * draw(st.sampled_from([1.0, -1.0]))


# Bodies


class Particles(NamedTuple):
    """Masses (k,), kg, and positions (k, 3), m: a body by definition."""

    masses: np.ndarray
    positions: np.ndarray

    def inertia(self) -> torsor.Inertia:
        """Mass, centre of mass and rotational inertia about it, summed here and not by the library."""
        m, r = self.masses, self.positions
        com = m @ r / m.sum()
        x = r - com
        I = np.einsum("k,kij->ij", m, (x**2).sum(-1)[:, None, None] * np.eye(3) - x[:, :, None] * x[:, None, :])
        return torsor.Inertia(m.sum(), com, 0.5 * (I + I.T))


@st.composite
def particles(draw: st.DrawFn, least: int = 1) -> Particles:
    """One particle is a point mass, two a rod, three a plate, four and more a solid."""
    k, rng = draw(st.integers(least, 7)), np.random.default_rng(draw(seeds))
    offset = rng.normal(size=3) * draw(st.sampled_from([0.0, 1.0, 10.0]))
    size = draw(sized(-2, 0))
    return Particles(rng.uniform(0.1, 3.0, k), offset + size * rng.normal(size=(k, 3)))


solid_bodies = particles(least=4).map(Particles.inertia)
bodies = st.one_of(particles().map(Particles.inertia), st.builds(torsor.Inertia.zero))


# Robots


@st.composite
def robots(
    draw: st.DrawFn,
    *,
    least: int = 1,
    most: int = 8,
    kinds: tuple[str, ...] | None = None,
    mimic: bool | None = None,
    serial: bool | None = None,
    friction: bool | None = None,
) -> torsor.Robot:
    """Random trees with every mixture of joint kinds and effects."""
    flag = {name: draw(st.booleans()) for name in ("armature", "fixed")}
    for name, value in (("mimic", mimic), ("serial", serial), ("friction", friction)):
        flag[name] = draw(st.booleans()) if value is None else value
    flag["springs"] = flag["friction"]
    if kinds is None:
        kinds = draw(st.sampled_from([ALL_KINDS, ALL_KINDS, ONE_NUMBER, *((kind,) for kind in ALL_KINDS)]))
    return torsor.robots.random_tree(draw(st.integers(least, most)), seed=draw(seeds), kinds=kinds, **flag)


@st.composite
def lumped_robots(draw: st.DrawFn) -> torsor.Robot:
    """Chains whose inner links are massless or point masses and whose last link is a solid body."""
    rng, n = np.random.default_rng(draw(seeds)), draw(st.integers(1, 4))
    joints, parent = [], "base"
    for k in range(n):
        last = k == n - 1
        sort = "solid" if last else draw(st.sampled_from(["massless", "point", "rod", "solid"]))
        count = {"massless": 0, "point": 1, "rod": 2, "solid": 6}[sort]
        body = Particles(rng.uniform(0.2, 1.0, count), rng.normal(scale=0.5, size=(count, 3)))
        kind = draw(st.sampled_from(["revolute", "helical"]))
        joints.append(
            torsor.Joint(
                name=f"joint_{k}",
                kind=kind,
                parent=parent,
                link=f"link_{k}",
                pose=pose_of(rng.normal(size=3), rng.normal(scale=0.5, size=3)),
                axis=rng.normal(size=3),
                pitch=0.2 if kind == "helical" else 0.0,
                inertia=body.inertia() if count else torsor.Inertia.zero(),
            )
        )
        parent = f"link_{k}"
    tool = pose_of(rng.normal(size=3), rng.normal(scale=0.3, size=3))
    return torsor.assemble(joints, name="lumped", frames={"tool": (parent, tool)})


any_robots = st.one_of(robots(), robots(), lumped_robots())


def joints_of(robot: torsor.Robot) -> list[torsor.Joint]:
    """The joints that give the robot back when assembled."""
    return disassemble(robot)


def rebuilt(robot: torsor.Robot, joints: list[torsor.Joint], **changes: object) -> torsor.Robot:
    """The robot with other joints, its frames and gravity kept."""
    return torsor.assemble(joints, name="rebuilt", gravity=robot.gravity, frames=frames_of(robot), **changes)


def without_mimics(robot: torsor.Robot) -> torsor.Robot:
    """The same mechanism with every follower set free."""
    return rebuilt(robot, [replace(joint, mimic=None) for joint in joints_of(robot)])


# States


class Case(NamedTuple):
    """A robot in states: q (*batch, nq), v and a (*batch, nv), and a generator for whatever else is needed."""

    robot: torsor.Robot
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    rng: np.random.Generator

    @property
    def batch(self) -> tuple[int, ...]:
        """Batch axes of the states."""
        return self.q.shape[:-1]

    def frame(self) -> str:
        """Some frame of the robot, the base included."""
        return str(self.rng.choice(self.robot.frames))

    def wrenches(self) -> dict[str, np.ndarray]:
        """External wrenches on up to three frames."""
        names = self.rng.choice(self.robot.frames, size=min(3, len(self.robot.frames)), replace=False)
        return {str(name): self.rng.normal(size=(*self.batch, 6)) for name in names}

    def tau(self) -> np.ndarray:
        """Some joint forces (*batch, nv)."""
        return self.rng.normal(size=(*self.batch, self.robot.nv))


def quaternion_slices(robot: torsor.Robot) -> list[slice]:
    """Where the quaternions are in q."""
    blocks = [robot.q_slice(j) for j, kind in zip(robot.joints, robot.structure.kinds, strict=True) if kind in ROTATING]
    return [slice(block.stop - 4, block.stop) for block in blocks]


ROTATING = ("spherical", "free")


def with_scaled_quaternions(robot: torsor.Robot, q: np.ndarray, scale: float) -> np.ndarray:
    """The same configuration with quaternions of another length."""
    q = q.copy()
    for part in quaternion_slices(robot):
        q[..., part] *= scale
    return q


def whole_turns(robot: torsor.Robot, turns: int) -> np.ndarray:
    """A change of q (nq,) by full turns of each joint with an angle of its own, which moves nothing."""
    s, dq = robot.structure, np.zeros(robot.nq)
    for i, kind in enumerate(s.kinds):
        alone = sum(c.coordinate == s.couplings[i].coordinate for c in s.couplings) == 1
        if kind in ("revolute", "planar") and alone:  # the angle of a planar joint is its last number
            dq[s.coordinate_of(i).q.stop - 1] = 2 * PI * turns
    return dq


@st.composite
def cases(
    draw: st.DrawFn,
    robots: st.SearchStrategy[torsor.Robot] = any_robots,
    batches: tuple[tuple[int, ...], ...] = BATCHES,
    huge_angles: bool = False,
) -> Case:
    """Robots in random states: single ones, batches, empty batches; quaternions of any length."""
    robot, batch = draw(robots), draw(st.sampled_from(batches))
    rng = np.random.default_rng(draw(seeds))
    q, v, a = torsor.random_state(robot, seed=rng, batch=batch)
    q = with_scaled_quaternions(robot, q, draw(st.one_of(st.just(1.0), sized(-1, 1))))
    if huge_angles and draw(st.booleans()):
        q = q + whole_turns(robot, draw(st.integers(-160_000, 160_000)))  # up to 1e6 rad
    return Case(robot, q, v, a, rng)


def sixty_joints() -> Case:
    """A long chain, moving slowly enough for its tip not to outrun everything else."""
    robot = torsor.robots.chain(60, mass=0.2, length=0.1)
    q, v, a = torsor.random_state(robot, seed=6)
    return Case(robot, 0.3 * q, 0.1 * v, 0.1 * a, np.random.default_rng(6))


def mass_condition(robot: torsor.Robot, q: np.ndarray) -> float:
    """The largest condition number of M over a batch: what a solution with M loses to rounding."""
    M = torsor.mass_matrix(robot, q).reshape(-1, robot.nv, robot.nv)
    return float(np.linalg.cond(M).max(initial=1.0))
