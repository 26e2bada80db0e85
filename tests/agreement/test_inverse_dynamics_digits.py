"""Inverse dynamics of extreme robots against sixty digits: no choice of recursion, frames or inertias costs more than rounding.

The truth is Newton's and Euler's equations in the axes of the base, from the very doubles of the robot. Compiled results come
from Luh, Walker and Paul's recursion in frames along common normals with regrouped inertias, the farthest from it.
"""

import mpmath
import numpy as np
import pytest

import torsor
from torsor.mechanics.dynamics.inverse_dynamics import (
    inverse_dynamics,
    looped_inverse_dynamics,
    vector_inverse_dynamics,
)
from torsor.model.aligned import candidates

pytestmark = pytest.mark.compiled
EPS = np.finfo(float).eps
RNG = np.random.default_rng(1)


def exact(x):
    return mpmath.matrix(np.asarray(x, float).tolist())


def cross(a, b):
    return mpmath.matrix([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def turned(axis, angle):
    x, y, z = axis
    K = mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    length = mpmath.norm(axis)  # a double is no unit vector
    return (
        mpmath.eye(3) + mpmath.sin(angle * length) / length * K + (1 - mpmath.cos(angle * length)) / length**2 * K * K
    )


def truth(robot, q, v, a):
    """τ of a chain of revolute joints, each about an axis through the origin of its frame."""
    p, g = robot.parameters, exact(robot.parameters.gravity)
    R, x, w, dw, ddx = mpmath.eye(3), exact(np.zeros(3)), exact(np.zeros(3)), exact(np.zeros(3)), -g
    axes, origins, forces, moments = [], [], [], []
    for pose, screw, row, q_i, v_i, a_i in zip(p.poses, p.screws, p.inertias, q, v, a, strict=True):
        assert not screw[3:].any()
        offset = R * exact(pose[:3, 3])
        ddx = ddx + cross(dw, offset) + cross(w, cross(w, offset))
        x = x + offset
        R = R * exact(pose[:3, :3]) * turned(exact(screw[:3]), mpmath.mpf(float(q_i)))
        axis = R * exact(screw[:3])
        dw = dw + axis * mpmath.mpf(float(a_i)) + cross(w, axis) * mpmath.mpf(float(v_i))
        w = w + axis * mpmath.mpf(float(v_i))
        mass, h = mpmath.mpf(float(row[0])), R * exact(row[1:4])
        I = R * exact([[row[4], row[5], row[6]], [row[5], row[7], row[8]], [row[6], row[8], row[9]]]) * R.T
        force = mass * ddx + cross(dw, h) + cross(w, cross(w, h))
        axes.append(axis)
        origins.append(x)
        forces.append(force)
        moments.append(cross(h, ddx) + I * dw + cross(w, I * w) + cross(x, force))  # about the base
    tau = []
    for i in range(robot.n):
        F, N = sum(forces[i:], exact(np.zeros(3))), sum(moments[i:], exact(np.zeros(3)))
        tau.append(float((axes[i].T * (N - cross(origins[i], F)))[0]))
    return np.array(tau)


def unit(x):
    return tuple(np.asarray(x) / np.linalg.norm(x))


def chain(axes, poses, inertias):
    joints = []
    for k, (axis, pose, inertia) in enumerate(zip(axes, poses, inertias, strict=True)):
        place = {"link": f"l{k}", "parent": f"l{k - 1}" if k else "base", "pose": pose}
        joints.append(torsor.Joint(name=f"j{k}", kind="revolute", axis=axis, inertia=inertia, **place))
    return torsor.assemble(joints)


def anywhere(n, masses, size=0.3):
    """A chain of bricks, axes and frames in any direction; lengths as ``size``."""
    poses = [torsor.pose_from(size * RNG.normal(size=3), RNG.uniform(-3, 3, 3)) for _ in range(n)]
    bricks = [
        torsor.Inertia.box((size, 0.3 * size, 0.2 * size), mass=m, com=tuple(0.3 * size * RNG.normal(size=3)))
        for m in masses
    ]
    return chain([unit(RNG.normal(size=3)) for _ in range(n)], poses, bricks)


def nearly_parallel(angle, n=6):
    """Axes whose common normals are anywhere, or far away."""
    around = RNG.uniform(0, 2 * np.pi, n)
    axes = [unit((np.sin(angle) * np.cos(t), np.sin(angle) * np.sin(t), np.cos(angle))) for t in around]
    bricks = [torsor.Inertia.box((0.3, 0.1, 0.1), mass=1.0, com=tuple(0.1 * RNG.normal(size=3))) for _ in range(n)]
    return chain(axes, [torsor.pose_from(0.4 * RNG.normal(size=3)) for _ in range(n)], bricks)


def heavy_wrist():
    """A million kilograms balanced at the centre of a wrist of a milligram: regrouping moves them along the chain."""
    light, heavy = torsor.Inertia.box((0.1, 0.03, 0.02), mass=1e-6), torsor.Inertia.box((0.1, 0.03, 0.02), mass=1e6)
    poses = [torsor.pose_from((0, 0, z), RNG.uniform(-3, 3, 3)) for z in (0.1, 0.3, 0.0)]
    return chain([(0, 0, 1), unit((1, 2, 3)), unit((3, -1, 1))], poses, [light, light, heavy])


ROBOTS = {
    "masses alternating from 1e-6 to 1e6": anywhere(6, [1e-6, 1e6] * 3),
    "masses rising from 1e-6 to 1e6": anywhere(6, 10.0 ** np.linspace(-6, 6, 6)),
    "masses falling from 1e6 to 1e-6": anywhere(6, 10.0 ** np.linspace(6, -6, 6)),
    "micrometres": anywhere(5, [1e-12] * 5, size=1e-6),
    "a thousand kilometres": anywhere(5, [1e6] * 5, size=1e6),
    "axes parallel to 1e-8": nearly_parallel(1e-8),
    "axes parallel to 0.06": nearly_parallel(
        0.06
    ),  # a tenth of a radian between neighbours: common normals are taken, or not
    "a heavy wrist": heavy_wrist(),
    "a long chain": anywhere(32, [1.0] * 32, size=0.2),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_no_digits_are_lost(name):
    robot, rng = ROBOTS[name], np.random.default_rng(2)
    allowed = 8 * robot.n * EPS  # of the largest: each link adds some roundings of all forces beyond it
    with mpmath.workdps(60):
        for rate in (1.0, 1e5):
            q, v, a = rng.uniform(-3, 3, robot.nq), rate * rng.normal(size=robot.nv), rate * rng.normal(size=robot.nv)
            want = truth(robot, q, v, a)
            found = {"compiled": torsor.inverse_dynamics(robot, q, v, a)}
            found["in loops"] = looped_inverse_dynamics(robot, q, v, a)
            for k, other in enumerate(candidates(robot)):
                found[f"vectors, frames {k}"] = vector_inverse_dynamics(other, q, v, a)
                found[f"twists, frames {k}"] = inverse_dynamics(other, q, v, a)
            errors = {way: np.abs(tau - want).max() / np.abs(want).max() for way, tau in found.items()}
            assert max(errors.values()) <= allowed, errors
