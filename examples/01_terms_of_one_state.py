"""Every term of the equations of motion of a Panda at one state, as tables, and the identities that tie them together.

Needs torsor alone.

python examples/01_terms_of_one_state.py
"""

import numpy as np

import torsor


def main() -> None:
    arm = torsor.robots.panda()
    q, v, a = torsor.random_state(arm, seed=0)
    tool_force = {"hand_tcp": np.array([0.0, 0.0, 0.0, 0.0, 0.0, -10.0])}  # N·m, N: 10 N against the hand

    M = torsor.mass_matrix(arm, q)
    C = torsor.coriolis_matrix(arm, q, v)
    g = torsor.gravity_forces(arm, q)
    J = torsor.body_jacobian(arm, q, "hand_tcp")
    tau = torsor.inverse_dynamics(arm, q, v, a, wrenches=tool_force)
    pushed = J.T @ tool_force["hand_tcp"]

    print(arm)
    print("\nstate, and what each term of τ = M a + C v + g + friction − JᵀF contributes (N·m)\n")
    friction = torsor.friction_forces(arm, v)
    columns = {
        "q": q,
        "v": v,
        "a": a,
        "M a": M @ a,
        "C v": C @ v,
        "g": g,
        "friction": friction,
        "−JᵀF": -pushed,
        "τ": tau,
    }
    table(arm.joints, columns)

    print("\nmass matrix M (kg·m²)\n")
    table(arm.joints, {str(j + 1): M[:, j] for j in range(arm.nv)})
    print("\nCoriolis matrix C (kg·m²/s)\n")
    table(arm.joints, {str(j + 1): C[:, j] for j in range(arm.nv)})

    pose = torsor.frame_pose(arm, q, "hand_tcp")
    print("\nhand_tcp is at", np.round(pose[:3, 3], 4), "m and moves with", end=" ")
    print(np.round(torsor.kinematics.mixed_twist(arm, q, v, "hand_tcp"), 4), "(rad/s, m/s, base axes)")
    energy = torsor.kinetic_energy(arm, q, v), torsor.potential_energy(arm, q)
    print(f"kinetic energy {energy[0]:.4f} J, potential energy {energy[1]:.4f} J")

    print("\nchecks: each line compares two roads to the same numbers\n")
    failures = 0
    for what, error in checks(arm, q, v, a, tau, tool_force).items():
        ok = error < 1e-8
        failures += not ok
        print(f"  {'ok ' if ok else 'BAD'}  {what:<66} differ by {error:.1e} of the largest entry")
    if failures:
        raise SystemExit(failures)


def checks(arm, q, v, a, tau, wrenches):
    """Relative differences between the sides of identities that hold for every robot."""
    M, C = torsor.mass_matrix(arm, q), torsor.coriolis_matrix(arm, q, v)
    sum_of_terms = M @ a + C @ v + torsor.gravity_forces(arm, q) + torsor.friction_forces(arm, v)
    sum_of_terms = sum_of_terms - torsor.body_jacobian(arm, q, "hand_tcp").T @ wrenches["hand_tcp"]
    h = 1e-6  # s; central differences are good to about 1e-9 here
    ahead, behind = torsor.integrate(arm, q, v, h), torsor.integrate(arm, q, v, -h)
    M_rate = (torsor.mass_matrix(arm, ahead) - torsor.mass_matrix(arm, behind)) / (2 * h)
    fall = (torsor.potential_energy(arm, ahead) - torsor.potential_energy(arm, behind)) / (2 * h)
    step = torsor.frame_pose(arm, ahead, "hand_tcp") - torsor.frame_pose(arm, behind, "hand_tcp")
    velocity = step[:3, 3] / (2 * h)
    return {
        "τ recursive = M a + C v + g + friction − JᵀF": relative(tau, sum_of_terms),
        "forward dynamics of τ = a, articulated bodies": relative(
            torsor.papers.articulated_body_acceleration(arm, q, v, tau, wrenches=wrenches), a
        ),
        "forward dynamics of τ = a, factorised M": relative(
            torsor.papers.factorised_acceleration(arm, q, v, tau, wrenches=wrenches), a
        ),
        "kinetic energy = ½ vᵀ M v": relative(torsor.kinetic_energy(arm, q, v), v @ M @ v / 2),
        "Ṁ = C + Cᵀ": relative(torsor.dynamics.mass_matrix_rate(arm, q, v), C + C.T),
        "Ṁ by differencing M along v": relative(torsor.dynamics.mass_matrix_rate(arm, q, v), M_rate),
        "C v by the matrix = C v by the recursion": relative(C @ v, torsor.dynamics.coriolis_forces(arm, q, v)),
        "power against gravity = rate of potential energy": relative(torsor.gravity_forces(arm, q) @ v, fall),
        "velocity of the hand by Jacobian = by differencing its pose": relative(
            torsor.mixed_jacobian(arm, q, "hand_tcp")[3:] @ v, velocity
        ),
        "M M⁻¹ = 1": relative(M @ torsor.dynamics.inverse_mass_matrix(arm, q), np.eye(arm.nv)),
    }


def relative(x, y) -> float:
    return float(np.max(np.abs(np.asarray(x) - y)) / np.max(np.abs(y)))


def table(rows, columns) -> None:
    print(f"{'':<14}" + "".join(f"{name:>10}" for name in columns))
    for k, row in enumerate(rows):
        print(f"{row:<14}" + "".join(f"{values[k]:>z10.4f}" for values in columns.values()))


if __name__ == "__main__":
    main()
