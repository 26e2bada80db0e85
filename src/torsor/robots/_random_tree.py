"""Random robots with every joint kind: for tests, and for finding out whether an idea holds beyond one arm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torsor.arrays import exact_constants
from torsor.arrays.exact import coarse
from torsor.border import explained
from torsor.lie import se3
from torsor.model import Inertia, Joint, Mimic, Robot, assemble
from torsor.model.joint_kinds import KINDS, SCREW_KINDS
from torsor.model.states import generator_of


@explained
@exact_constants()
def random_tree(
    n: int,
    *,
    seed: int | np.random.Generator,
    kinds: Sequence[str] = tuple(KINDS),
    serial: bool = False,
    mimic: bool = False,
    friction: bool = False,
    armature: bool = False,
    springs: bool = False,
    fixed: bool = False,
) -> Robot:
    """A robot with random tree, joints, inertias and gravity, the same for one seed.

    Every link has a physical inertia. A frame "tool" sits on the last link.

    Parameters
    ----------
    n : int
        How many moving links.
    seed : int or numpy.random.Generator
    kinds : sequence of str
        Kinds of joints to draw from.
    serial : bool
        Whether the links form a chain.
    mimic : bool
        Whether some joints follow others.
    friction, armature, springs : bool
        Whether joints have viscous and Coulomb friction, armature, and, if they have one number, springs.
    fixed : bool
        Whether there are links on fixed joints too (they become frames).

    Returns
    -------
    Robot
        kg, m, rad.
    """
    rng = generator_of(seed)
    joints: list[Joint] = []
    leaders: list[str] = []
    links = ["base"]
    for k in range(n):
        kind = str(rng.choice(list(kinds)))
        parent = links[-1] if serial else str(rng.choice(links))
        one = kind in SCREW_KINDS
        follow = mimic and one and bool(leaders) and rng.random() < 0.4
        joint = Joint(
            name=f"joint_{k}",
            kind=kind,
            parent=parent,
            link=f"link_{k}",
            pose=_pose(rng),
            axis=_normal(rng, 3) if one else None,
            pitch=0.3 * float(_normal(rng)) * (kind == "helical"),
            inertia=_inertia(rng),
            armature=float(rng.uniform(0.1, 1.0)) if armature and not follow else 0.0,
            viscous_friction=float(rng.uniform(0.1, 1.0)) if friction and not follow else 0.0,
            coulomb_friction=float(rng.uniform(0.1, 1.0)) if friction and not follow else 0.0,
            stiffness=float(rng.uniform(1.0, 10.0)) if springs and one and not follow else 0.0,
            rest=float(_normal(rng)) if springs and one and not follow else 0.0,
            mimic=Mimic(str(rng.choice(leaders)), float(_normal(rng)), float(_normal(rng))) if follow else None,
        )
        joints.append(joint)
        links.append(joint.link)
        if one and not follow:
            leaders.append(joint.name)
        if fixed and rng.random() < 0.4:
            joints.append(_fixed(rng, f"fixed_{k}", joint.link))
            links.append(joints[-1].link)
    return assemble(
        joints,
        name=f"random_tree_{n}" if isinstance(seed, np.random.Generator) else f"random_tree_{n}_{seed}",
        gravity=5.0 * _normal(rng, 3),
        frames={"tool": (f"link_{n - 1}", _pose(rng))},
    )


def _fixed(rng: np.random.Generator, name: str, parent: str) -> Joint:
    return Joint(name=name, kind="fixed", parent=parent, link=f"{name}_link", pose=_pose(rng), inertia=_inertia(rng))


def _pose(rng: np.random.Generator) -> np.ndarray:
    pose: np.ndarray = se3.exp(np.concatenate([_normal(rng, 3), 0.5 * _normal(rng, 3)]))
    return pose


def _inertia(rng: np.random.Generator) -> Inertia:
    """A few heavy points: every inertia made so belongs to a real body."""
    return Inertia.particles(rng.uniform(0.1, 1.0, 6), 0.3 * _normal(rng, (6, 3)))


def _normal(rng: np.random.Generator, size: int | tuple[int, ...] = ()) -> np.ndarray:
    """Normal numbers, the same on every machine: NumPy takes the far ones from the C library's logarithm."""
    numbers: np.ndarray = coarse(rng.normal(size=size))
    return numbers
