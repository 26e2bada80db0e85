"""The second road: the papers' definitions in plain NumPy, sharing no code with the library.

Bodies are handfuls of particles, so that energy, momentum and force are sums over m ẋ and m ẍ: no inertia matrix is
believed before it is tested. Links move by products of matrix exponentials, differentiated exactly by the product rule.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

import torsor

ROUND_OFF = 1e-12  # of the largest entry: a few thousand roundings
DIFFERENCED = 1e-9  # fourth-order differences of step 1e-3: h⁴ f⁗′/30 ~ 1e-12 and ε f/h ~ 1e-13, times the terms' size


def assert_close(actual, expected, tolerance=ROUND_OFF):
    """Equal to within ``tolerance`` of the largest expected entry (or of 1)."""
    expected = np.asarray(expected)
    assert np.shape(actual) == expected.shape
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=tolerance * scale)


def assert_differs(printed, true):
    """Not equal, by far more than any rounding: the printed form is a misprint, not a matter of tolerance."""
    assert np.abs(np.asarray(printed) - np.asarray(true)).max() > 1e-3


# SE(3) and se(3), by definition


def skew(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def hat(V):
    w1, w2, w3, v1, v2, v3 = V
    return np.array([[0.0, -w3, w2, v1], [w3, 0.0, -w1, v2], [-w2, w1, 0.0, v3], [0.0, 0.0, 0.0, 0.0]])


def vee(X):
    return np.array([X[2, 1], X[0, 2], X[1, 0], X[0, 3], X[1, 3], X[2, 3]])


def commutator(X, Y):
    return X @ Y - Y @ X


def bracket(V, W):
    return vee(commutator(hat(V), hat(W)))


def Ad(T):
    """Column by column: T x T⁻¹ for the six basis twists x."""
    return np.column_stack([vee(T @ hat(e) @ np.linalg.inv(T)) for e in np.eye(6)])


def ad(V):
    """Column by column: [V, x] for the six basis twists x."""
    return np.column_stack([bracket(V, e) for e in np.eye(6)])


def motion(S, x):
    return _exponential(tuple(S), float(x))


@lru_cache(maxsize=4096)
def _exponential(S, x):
    """The power series of A/2⁵, squared five times; SciPy's exponential says the same but waits for busy cores."""
    A, term, T = hat(S) * x / 32.0, np.eye(4), np.eye(4)
    for k in range(1, 16):  # |A| < 1/2 for the screws here: the sixteenth term is below 1e-18
        term = term @ A / k
        T = T + term
    for _ in range(5):
        T = T @ T
    return T


def pose(R=None, p=(0.0, 0.0, 0.0)):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.eye(3) if R is None else R, p
    return T


def random_pose(rng):
    return motion(rng.normal(size=6), 1.0)


def product(factors):
    T = np.eye(4)
    for factor in factors:
        T = T @ factor
    return T


def product_rates(screws, q):
    """First and second derivatives of e^{A_1 q_1} ⋯ e^{A_m q_m}, exact: A_k is put into the product where it acts."""
    E, A = [motion(S, x) for S, x in zip(screws, q, strict=True)], [hat(S) for S in screws]
    joints = range(len(E))

    def with_factors(*inserted):
        return product(factor for j in joints for factor in (*[A[j]] * inserted.count(j), E[j]))

    return (
        np.array([with_factors(k) for k in joints]),
        np.array([[with_factors(k, l) for l in joints] for k in joints]),
    )


# Differences of fourth order


def derivative(f, t=0.0, step=1e-3):
    return (8.0 * (f(t + step) - f(t - step)) - (f(t + 2 * step) - f(t - 2 * step))) / (12.0 * step)


def gradient(f, x, step=1e-3):
    """∂f/∂x_k, index k last; a step of 1 is exact where f is a quadratic form."""
    return np.stack([derivative(lambda t, e=e: f(x + t * e), step=step) for e in np.eye(len(x))], axis=-1)


# Bodies


class Body(NamedTuple):
    """Particles: masses (k,) at points (k, 3) of the body's frame."""

    masses: np.ndarray
    points: np.ndarray

    @property
    def mass(self):
        return self.masses.sum()

    @property
    def com(self):
        return self.masses @ self.points / self.mass

    @property
    def moments(self):
        """Σ m x xᵀ over the homogeneous positions (x, 1): every quadratic sum over the particles is a trace with it."""
        x = np.column_stack([self.points, np.ones(len(self.masses))])
        return np.einsum("p,pi,pj->ij", self.masses, x, x)

    @property
    def rotational(self):
        """Σ m (r² 1 − r rᵀ) about the centre of mass."""
        return self.about(self.com)

    @property
    def inertia(self):
        return torsor.Inertia(self.mass, self.com, self.rotational)

    @property
    def row(self):
        return self.inertia.row

    @property
    def matrix(self):
        """Σ m XᵀX: the particle at x moves with v − [x] ω."""
        parts = [np.hstack([-skew(x), np.eye(3)]) for x in self.points]
        return sum(m * X.T @ X for m, X in zip(self.masses, parts, strict=True))

    def about(self, origin):
        r = self.points - origin
        return sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(self.masses, r, strict=True))

    def moved(self, T):
        """The same particles, seen from a frame in which this one sits at T."""
        return Body(self.masses, self.points @ T[:3, :3].T + T[:3, 3])

    def pairing(self, X, Y):
        """Σ m (X x)·(Y x): of two velocities, twice a mixed energy; of an acceleration and a velocity, a power."""
        return np.trace(X @ self.moments @ Y.T)

    def energy(self, V):
        return 0.5 * self.pairing(hat(V), hat(V))

    def wrench(self, V, V_dot):
        """(Σ x × m ẍ, Σ m ẍ) in body axes, ẍ = ([V̇] + [V]²) x: the wrench that the motion takes."""
        acceleration = hat(V_dot) + hat(V) @ hat(V)
        return np.array([self.pairing(acceleration, hat(e)) for e in np.eye(6)])


def random_body(rng):
    return Body(rng.uniform(0.1, 1.0, 6), rng.normal(scale=0.4, size=(6, 3)))


# Chains


class State(NamedTuple):
    """Configuration, velocity and acceleration."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


class Chain(NamedTuple):
    """A serial chain as raw data, with the robot that the library makes of it. Links count from 0 here."""

    kinds: str
    screws: np.ndarray  # A_i (n, 6), in the base frame at q = 0
    homes: np.ndarray  # link frames at q = 0
    bodies: list[Body]  # in link frames
    tip: np.ndarray
    gravity: np.ndarray
    robot: torsor.Robot

    @property
    def n(self):
        return len(self.screws)

    @property
    def links(self):
        return self.robot.links

    def between(self, q, first, last):
        """e^{A_first q} ⋯ e^{A_last q}; the identity if first > last."""
        return product(motion(self.screws[j], q[j]) for j in range(first, last + 1))

    def poses(self, q):
        return np.array([self.between(q, 0, i) @ home for i, home in enumerate(self.homes)])

    def rates(self, q):
        """∂T_i/∂q_k (n, n, 4, 4) and ∂²T_i/∂q_k∂q_l (n, n, n, 4, 4)."""
        dT, ddT = np.zeros((self.n,) * 2 + (4, 4)), np.zeros((self.n,) * 3 + (4, 4))
        for i, home in enumerate(self.homes):
            first, second = product_rates(self.screws[: i + 1], q[: i + 1])
            dT[i, : i + 1], ddT[i, : i + 1, : i + 1] = first @ home, second @ home
        return dT, ddT

    @property
    def link_screws(self):
        """S_i = Ad(M_i⁻¹) A_i: the screw of joint i in the frame of link i."""
        return np.array([Ad(np.linalg.inv(home)) @ A for home, A in zip(self.homes, self.screws, strict=True)])

    def steps(self, q):
        """Pose of each link in the frame of the one before."""
        T = [np.eye(4), *self.poses(q)]
        return [np.linalg.inv(T[i]) @ T[i + 1] for i in range(self.n)]

    def link_motion(self, q, v, a, base=None):
        """Body twists V_i, [V_i] = T_i⁻¹ Ṫ_i, and their rates."""
        T, T_dot = self.poses(q), np.einsum("ikab,k->iab", self.rates(q)[0], v)
        T_dot = T_dot if base is None else T_dot + hat(base[0]) @ T
        V = np.linalg.inv(T) @ T_dot
        V_dot = np.linalg.inv(T) @ self.accelerations(q, v, a, base) - V @ V
        return np.array([vee(X) for X in V]), np.array([vee(X) for X in V_dot])

    def mass_matrix(self, q):
        dT, _ = self.rates(q)
        return sum(np.einsum("kab,bc,lac->kl", dT[i], body.moments, dT[i]) for i, body in enumerate(self.bodies))

    def christoffel(self, q):
        """Γ_ijk = Σ m ∂²x/∂q_i∂q_j · ∂x/∂q_k over all particles x: lowered index last."""
        dT, ddT = self.rates(q)
        return sum(np.einsum("ijab,bc,kac->ijk", ddT[i], b.moments, dT[i]) for i, b in enumerate(self.bodies))

    def accelerations(self, q, v, a, base=None):
        """Second time derivatives of the link poses, (n, 4, 4); ``base``: twist and its rate, of a base at 1."""
        (dT, ddT), T = self.rates(q), self.poses(q)
        T_dot = np.einsum("ikab,k->iab", dT, v)
        T_ddot = np.einsum("ikab,k->iab", dT, a) + np.einsum("iklab,k,l->iab", ddT, v, v)
        if base is not None:
            X, X_dot = hat(base[0]), hat(base[1])
            T_ddot = (X_dot + X @ X) @ T + 2.0 * X @ T_dot + T_ddot
        return T_ddot

    def felt(self, q, v, a, base=None, gravity=True):
        """Accelerations of the link poses less gravity: what times mass is the force of everything but gravity."""
        fall = np.zeros((4, 4))
        fall[:3, 3] = self.gravity if gravity else 0.0
        return self.accelerations(q, v, a, base) - fall

    def torques(self, q, v, a, base=None, gravity=True):
        """d'Alembert: τ_k = Σ m (ẍ − g)·∂x/∂q_k over all particles."""
        felt, (dT, _) = self.felt(q, v, a, base, gravity), self.rates(q)
        return sum(np.einsum("ab,bc,kac->k", felt[i], b.moments, dT[i]) for i, b in enumerate(self.bodies))

    def joint_wrenches(self, q, v, a, base=None, gravity=True):
        """(Σ x × m (ẍ − g), Σ m (ẍ − g)) over the particles from link i on, about frame i and in its axes."""
        felt, T = self.felt(q, v, a, base, gravity), self.poses(q)
        wrenches = []
        for i in range(self.n):
            T_i0 = np.linalg.inv(T[i])
            R = T[i][:3, :3].T
            total = np.zeros(6)
            for j in range(i, self.n):
                seen = self.bodies[j].moved(T_i0 @ T[j])  # particles in frame i
                x = np.column_stack([self.bodies[j].points, np.ones(len(seen.masses))])
                force = self.bodies[j].masses[:, None] * (x @ felt[j].T)[:, :3] @ R.T
                total += np.concatenate([np.cross(seen.points, force).sum(axis=0), force.sum(axis=0)])
            wrenches.append(total)
        return np.array(wrenches)

    def kinetic_energy(self, q, v):
        T_dot = np.einsum("ikab,k->iab", self.rates(q)[0], v)
        return 0.5 * sum(body.pairing(X, X) for body, X in zip(self.bodies, T_dot, strict=True))

    def centres(self, q):
        """Centres of mass of the links, in the base frame."""
        return np.array([T[:3, :3] @ b.com + T[:3, 3] for T, b in zip(self.poses(q), self.bodies, strict=True)])

    def potential_energy(self, q):
        return -sum(b.mass * self.gravity @ c for b, c in zip(self.bodies, self.centres(q), strict=True))


def chain_of(kinds, screws, homes, bodies, tip, gravity):
    inertias = [body.inertia for body in bodies]
    robot = torsor.serial_chain(screws, homes, inertias, tip=tip, gravity=gravity)
    return Chain(kinds, np.array(screws), np.array(homes), list(bodies), tip, np.array(gravity), robot)


def random_chain(kinds, *, seed, frames="anywhere"):
    """Joints of ``kinds`` (R, P, H), the rest random; ``frames``: anywhere, centre of mass, or principal axes."""
    rng = np.random.default_rng(seed)
    screws, homes, bodies = [], [], []
    for kind in kinds:
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        point = rng.normal(scale=0.5, size=3)
        pitch = rng.normal(scale=0.3) if kind == "H" else 0.0
        turning = np.concatenate([axis, np.cross(point, axis) + pitch * axis])
        screws.append(np.concatenate([np.zeros(3), axis]) if kind == "P" else turning)
        home, body = random_pose(rng), random_body(rng)
        if frames != "anywhere":
            R = np.linalg.eigh(body.rotational)[1] if frames == "principal axes" else np.eye(3)
            R = R * np.sign(np.linalg.det(R))
            shift = pose(R, body.com)
            home, body = home @ shift, body.moved(np.linalg.inv(shift))
        homes.append(home)
        bodies.append(body)
    return chain_of(kinds, screws, homes, bodies, random_pose(rng), rng.normal(scale=5.0, size=3))


class PlanarChain:
    """Four revolute links in the x-y plane: joint k + 1 at d_k from joint k, centre of mass at c_k, in link axes."""

    masses, moments = np.array([1.3, 0.9, 1.1, 0.7]), np.array([0.2, 0.1, 0.15, 0.05])
    d = np.array([[0.5, 0.1], [0.4, -0.2], [0.3, 0.25], [0.0, 0.0]])

    def __init__(self, c):
        self.c = np.array(c)
        joints = np.concatenate([np.zeros((1, 2)), np.cumsum(self.d[:-1], axis=0)])
        inertias = [
            torsor.Inertia(m, (*c, 0.0), np.diag([I / 2, I / 2, I]))
            for m, c, I in zip(self.masses, self.c, self.moments, strict=True)
        ]
        screws = [[0.0, 0.0, 1.0, y, -x, 0.0] for x, y in joints]
        self.robot = torsor.serial_chain(screws, [pose(p=(*p, 0.0)) for p in joints], inertias)

    def centre(self, q, i, k):
        """3×3 pose of the centre of mass of link k in the frame of link i at its joint."""
        T = np.eye(3)
        for j in range(i, k):
            cos, sin = np.cos(q[j + 1]), np.sin(q[j + 1])
            T = T @ np.array([[cos, -sin, self.d[j, 0]], [sin, cos, self.d[j, 1]], [0.0, 0.0, 1.0]])
        return T @ np.array([[1.0, 0.0, self.c[k, 0]], [0.0, 1.0, self.c[k, 1]], [0.0, 0.0, 1.0]])

    def spread(self, rng):
        """By how much the mass matrix varies over random configurations."""
        M = torsor.mass_matrix(self.robot, rng.normal(scale=2.0, size=(20, 4)))
        return np.ptp(M, axis=0).max()
