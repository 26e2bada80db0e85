"""Where a small robot's links are, how fast they move, and their energies: the Lagrangian by its definition, in a ring.

Nothing of the algorithms of dynamics is used: positions come from the product of the joints' motions, velocities by
differentiation, energies from masses, moments of inertia and weights [LP, §9.1]. So what follows from them can be compared with
what those algorithms give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from torsor._once import once
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.errors import ArgumentError
from torsor.mechanics.kinematics.poses import poses_in_base
from torsor.mechanics.recursions.joint_motion import joint_poses
from torsor.mechanics.recursions.newton_euler import link_motion
from torsor.model import Robot
from torsor.symbolic.fourier import Element, Ring, evaluate
from torsor.symbolic.geometry import Metric, summed
from torsor.symbolic.naming import ORDER, Naming
from torsor.symbolic.parameters import INERTIAL, Anatomy, Place, names_of, number_of, vector_of
from torsor.symbolic.printed import Quantity


class Source(NamedTuple):
    """What equations were written of: a robot, its symbols, names of its letters that M and g have, whether numbers stayed."""

    robot: Robot
    naming: Naming
    names: dict[int, str]
    numbers: bool


@dataclass(frozen=True, eq=False)
class Lagrangian:
    """A frame and all links of a robot in motion, vectors as lists of their entries, in base axes where nothing else is said."""

    robot: str
    ring: Ring
    generators: list[Any]
    inertial: set[int]
    decimals: bool
    extra: dict[str, Quantity]  # symbols that M and g do not have, as the height of the base
    ordered: list[Any]  # all symbols but those of q and q̇, as they are to be printed in products
    freedoms: int
    rotation: list[Element]  # of the frame (9), row by row
    position: list[Element]  # of its origin (3)
    spin: list[Element]  # its angular velocity (3)
    centres: list[list[Element]]  # centre of mass of each link (3)
    angular: list[list[Element]]  # angular velocity of each link in its own axes (3)
    masses: list[Element]
    moments: list[list[Element]]  # about the centre of mass of each link in its own axes (9), row by row
    gravity: list[Element]
    armature: list[Element]

    def rate(self, x: Element) -> Element:
        """The rate Σ ∂x/∂q_j q̇_j of what depends on q alone."""
        return summed([self.ring.derivative(x, j) * self.velocity(j) for j in range(self.freedoms)])

    def by_velocity(self, x: Element, j: int) -> Element:
        """The derivative ∂x/∂q̇_j."""
        return self.ring.derivative(x, self.freedoms + j)

    @once
    def velocities(self) -> list[list[Element]]:
        """Of the centre of mass of each link (3)."""
        return [[self.rate(x) for x in centre] for centre in self.centres]

    @once
    def kinetic(self) -> list[Element]:
        """K_i = ½ m_i |ṗ_i|² + ½ ω_iᵀ I_i ω_i of each link [LP, (9.59), (9.7)]."""
        half, found = self.ring.constant(0.5), []
        for m, velocity, w, I in zip(self.masses, self.velocities, self.angular, self.moments, strict=True):
            parts = [half * m * x * x for x in velocity]
            parts += [half * I[3 * a + b] * (w[a] * w[b]) for a in range(3) for b in range(3)]
            found.append(summed(parts))
        return found

    @once
    def rotors(self) -> Element:
        """½ Σ armature q̇², the energy of what turns with the joints only."""
        half = self.ring.constant(0.5)
        return summed([half * J * self.velocity(j) * self.velocity(j) for j, J in enumerate(self.armature)])

    @once
    def potential(self) -> list[Element]:
        """P_i = −m_i g · p_i of each link [LP, §9.1]."""
        return [
            summed([-(m * a * x) for a, x in zip(self.gravity, centre, strict=True)])
            for m, centre in zip(self.masses, self.centres, strict=True)
        ]

    @once
    def energy(self) -> Element:
        """The kinetic energy of the whole robot."""
        return summed([*self.kinetic, self.rotors])

    @once
    def metric(self) -> Metric:
        """M_ij = ∂²K/∂q̇_i∂q̇_j [LP, (9.10)]."""
        n = range(self.freedoms)
        M = [[self.by_velocity(self.by_velocity(self.energy, i), j) for j in n] for i in n]
        return Metric(self.robot, self.ring, M, self.generators, self.inertial, self.decimals)

    @once
    def jacobian(self) -> list[list[Element]]:
        """J (6, nv) of the frame: angular velocity, and velocity of its origin, both in base axes [LP, (9.91)]."""
        n = range(self.freedoms)
        rows = [[self.by_velocity(x, j) for j in n] for x in self.spin]
        return rows + [[self.ring.derivative(x, j) for j in n] for x in self.position]

    def velocity(self, j: int) -> Element:
        """The symbol q̇_j."""
        return self.ring.symbol(self.freedoms + j)


def lagrangian(sympy: Any, source: Source, frame: str, motion: Sequence[Any]) -> Lagrangian:
    """The links and a frame of a robot in motion; ``motion`` are the symbols of q, q̇ and q̈, one after the other."""
    robot, naming = source.robot, source.naming
    anatomy, n = Anatomy(robot), robot.nv
    place = anatomy.place(frame)
    letters = [] if source.numbers else anatomy.letters
    ring = Ring(2 * n + len(letters), n)
    found = evaluate(
        _program(anatomy, place, numbers=source.numbers), ring, [ring.symbol(k) for k in range(ring.symbols)]
    )
    longest = max(x.size for x in found["centres"] + found["position"]) if source.numbers else 1.0
    scales = {"centres": longest, "position": longest, "rotation": 1.0, "spin": 1.0, "angular": 1.0}
    found = {name: [x.without_noise(scales.get(name, 0.0)) for x in entries] for name, entries in found.items()}
    met = {  # moments and armatures that M does not have contribute nothing
        k - 2 * n
        for name in ("rotation", "position", "centres", "angular", "masses", "gravity")
        for x in found[name]
        for key in x.terms
        for k, e in enumerate(ring.exponents(key)[: ring.symbols])
        if e and k >= 2 * n
    }
    new = _new_names(anatomy, source, met, motion)
    extra = {name: Quantity(sympy.Symbol(name), float(letters[k].value), letters[k].unit) for k, name in new.items()}
    start = 2 * n + len(naming.symbols)
    named = Ring(start + len(new), n)
    named.angles = ring.angles
    images = [_image(named, 2 * n, source, list(new), start, k) for k in range(len(letters))]
    found = {name: [ring.substituted(x, 2 * n, images, named) for x in entries] for name, entries in found.items()}
    inertial = {2 * n + k for k in naming.inertial}
    inertial |= {start + place for place, k in enumerate(new) if letters[k].stem in INERTIAL}
    generators = [*motion[: 2 * n], *naming.symbols, *(x.symbol for x in extra.values())]
    in_threes = {name: [found[name][3 * i : 3 * i + 3] for i in range(robot.n)] for name in ("centres", "angular")}
    return Lagrangian(
        robot=robot.name,
        ring=named,
        generators=generators,
        inertial=inertial,
        decimals=source.numbers,
        extra=extra,
        ordered=_ordered(sympy, anatomy, source, {k: extra[name].symbol for k, name in new.items()}),
        freedoms=n,
        rotation=found["rotation"],
        position=found["position"],
        spin=found["spin"],
        centres=in_threes["centres"],
        angular=in_threes["angular"],
        masses=found["masses"],
        moments=[found["moments"][9 * i : 9 * i + 9] for i in range(robot.n)],
        gravity=found["gravity"],
        armature=found["armature"],
    )


def _program(anatomy: Anatomy, place: Place, *, numbers: bool) -> Any:
    """Positions, rotations, angular velocities and the numbers of the links, as operations on q, v and the letters."""
    values = np.array(anatomy.values() or [0.0])

    def run(q: Any, v: Any, x: Any = values) -> dict[str, Any]:
        robot = anatomy.robot_of(x)
        T = poses_in_base(robot, q)
        V: list[Any] = list(link_motion(robot, joint_poses(robot, q), v, None, gravity=False, base_motion=None)[0])
        i, offset = place.link, vector_of(place.offset, x)
        return {
            "rotation": place.rotation if i < 0 else T[i][:3, :3] @ place.rotation,
            "position": offset if i < 0 else T[i][:3, :3] @ offset + T[i][:3, 3],
            "spin": 0.0 * offset if i < 0 else T[i][:3, :3] @ V[i][:3],
            "centres": np.stack([A[:3, :3] @ vector_of(r, x) + A[:3, 3] for A, r in zip(T, anatomy.coms, strict=True)]),
            "angular": np.stack([twist[:3] for twist in V]),
            "masses": np.stack([number_of(entry, x) for entry in anatomy.masses]),
            "moments": np.stack([vector_of(row, x) for rows in anatomy.moments for row in rows]),
            "gravity": vector_of(anatomy.gravity, x),
            "armature": vector_of(anatomy.armature, x),
        }

    inputs: dict[str, tuple[int, ...]] = {"q": (anatomy.robot.nq,), "v": (anatomy.robot.nv,)}
    if not numbers and anatomy.letters:
        inputs["x"] = (len(anatomy.letters),)
    return trace(run, inputs, Level.FULL)


def _new_names(anatomy: Anatomy, source: Source, met: set[int], motion: Sequence[Any]) -> dict[int, str]:
    """Names for letters that are met here, and not in M and g."""
    names = names_of(anatomy.letters, met | set(source.names))
    new = {k: names[k] for k in sorted(met - set(source.names))}
    taken = {s.name for s in [*source.naming.ordered, *motion]}
    for name in new.values():
        if name in taken:
            raise ArgumentError(
                f"equations: {name} is the name of a length, mass or inertia that occurs in the derivation, and already that of "
                "something else; choose another name by `symbols` or `coordinates`."
            )
    return new


def _ordered(sympy: Any, anatomy: Anatomy, source: Source, new: dict[int, Any]) -> list[Any]:
    """The symbols of the equations and the new ones: by what they stand for, and by name."""
    naming, names = source.naming, source.names | {k: symbol.name for k, symbol in new.items()}
    found = []
    for k in sorted(names, key=lambda k: (ORDER.index(anatomy.letters[k].stem), names[k])):
        if k in new:
            found.append(new[k])
        elif naming.changed:
            found += [s for e in naming.images[k] for s, power in zip(naming.symbols, e, strict=False) if power]
        else:
            found.append(naming.symbols[k])
    return list(dict.fromkeys([*found, *naming.ordered]))


def _image(ring: Ring, first: int, source: Source, new: list[int], start: int, k: int) -> Element:
    """A letter as an element of the ring of symbols: as the equations have it, or as a new symbol."""
    if k in source.names:
        return ring.polynomial(first, source.naming.images[k]) if source.naming.changed else ring.symbol(first + k)
    return ring.symbol(start + new.index(k)) if k in new else ring.constant(0.0)
