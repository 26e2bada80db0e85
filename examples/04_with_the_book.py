"""The three-joint arm of the book Modern Robotics: its documented numbers, ours, and where the same robot leads.

Needs torsor alone.

python examples/04_with_the_book.py
"""

import numpy as np

import torsor
from torsor import modern_robotics as mr

Mlist = [
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.089159], [0, 0, 0, 1]],
    [[0, 0, 1, 0.28], [0, 1, 0, 0.13585], [-1, 0, 0, 0], [0, 0, 0, 1]],
    [[1, 0, 0, 0], [0, 1, 0, -0.1197], [0, 0, 1, 0.395], [0, 0, 0, 1]],
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.14225], [0, 0, 0, 1]],
]
Glist = [
    np.diag([0.010267, 0.010267, 0.00666, 3.7, 3.7, 3.7]),
    np.diag([0.22689, 0.22689, 0.0151074, 8.393, 8.393, 8.393]),
    np.diag([0.0494433, 0.0494433, 0.004095, 2.275, 2.275, 2.275]),
]
Slist = np.array([[1, 0, 1, 0, 1, 0], [0, 1, 0, -0.089, 0, 0], [0, 1, 0, -0.089, 0, 0.425]]).T
lists, g, Ftip = (Mlist, Glist, Slist), [0, 0, -9.8], np.ones(6)
theta, dtheta, ddtheta = [0.1, 0.1, 0.1], [0.1, 0.2, 0.3], [2, 1.5, 1]

tau = mr.InverseDynamics(theta, dtheta, ddtheta, g, Ftip, *lists)
rows = {
    "InverseDynamics": (tau, [74.69616155, -33.06766016, -3.23057314]),
    "GravityForces": (mr.GravityForces(theta, g, *lists), [28.40331262, -37.64094817, -5.4415892]),
    "VelQuadraticForces": (mr.VelQuadraticForces(theta, dtheta, *lists), [0.26453118, -0.05505157, -0.00689132]),
    "EndEffectorForces": (mr.EndEffectorForces(theta, Ftip, *lists), [1.40954608, 1.85771497, 1.392409]),
    "ForwardDynamics": (
        mr.ForwardDynamics(theta, dtheta, [0.5, 0.6, 0.7], g, Ftip, *lists),
        [-0.97392907, 25.58466784, -32.91499212],
    ),
}
print(f"{'':<20}{'torsor':>42}{'':6}difference from the book's eight decimals")
for name, (ours, documented) in rows.items():
    off = np.max(np.abs(ours - documented))
    print(f"{name:<20}" + "".join(f"{x:>14.8f}" for x in ours) + f"{'':6}{off:.0e}{'' if off < 1e-8 else '  BAD'}")

robot = mr.chain(*lists, g)  # from here on, everything torsor has
off = np.max(np.abs(torsor.inverse_dynamics(robot, theta, dtheta, ddtheta, wrenches={"tip": -Ftip}) - tau))
print(f"\nthe wrench on the robot is −Ftip: the same torques to {off:.0e} N·m{'' if off < 1e-12 else '  BAD'}")
q, v, a = torsor.random_state(robot, seed=0, batch=(10_000,))
taus = torsor.inverse_dynamics(robot, q, v, a)
print(f"{len(taus)} states in one call: largest torques {np.round(np.abs(taus).max(axis=0), 1)} N·m")
C = torsor.coriolis_matrix(robot, theta, dtheta)
off = np.max(np.abs(C + C.T - torsor.dynamics.mass_matrix_rate(robot, theta, dtheta)))
print(f"C and Cᵀ add up to the rate of M, to {off:.0e}{'' if off < 1e-12 else '  BAD'}")
