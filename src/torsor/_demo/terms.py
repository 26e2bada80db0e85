"""Every term of the equations of motion at one state."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import torsor
from torsor._html import plain, table
from torsor.arrays.typing import Array

PUSH = np.array([0.0, 0.0, 0.0, 0.0, 0.0, -10.0])  # N·m, N: on the hand, along its own z axis


class Terms(NamedTuple):
    """The terms by name, each (nv,), N·m; the joints they belong to; in words, for a terminal."""

    columns: dict[str, Array]
    joints: tuple[str, ...]
    text: str

    def html(self) -> str:
        """The same as a table."""
        rows = [
            [plain(joint), *(f"{values[k]:.3f}".replace("-", "−") for values in self.columns.values())]
            for k, joint in enumerate(self.joints)
        ]
        return table(["joint", *self.columns], rows)


def terms_of_one_state(arm: torsor.Robot) -> Terms:
    """All terms of τ at a random state, with a push at the hand."""
    q, v, a = torsor.random_state(arm, seed=0)
    frame = arm.frames[-1]
    J = torsor.body_jacobian(arm, q, frame)
    columns = {
        "q (rad)": q,
        "M a": torsor.mass_matrix(arm, q) @ a,
        "C v": torsor.coriolis_matrix(arm, q, v) @ v,
        "g": torsor.gravity_forces(arm, q),
        "−JᵀF": -J.T @ PUSH,
        "τ": torsor.inverse_dynamics(arm, q, v, a, wrenches={frame: PUSH}),
    }
    total = columns["M a"] + columns["C v"] + columns["g"] + columns["−JᵀF"]
    off = float(np.max(np.abs(columns["τ"] - total)))
    lines = [
        f"EVERY TERM of τ = M a + C v + g − JᵀF at one state of {arm.name!r}, in N·m; F pushes the hand with 10 N",
        "",
        " " * 16 + "".join(f"{name:>10}" for name in columns),
    ]
    for k, joint in enumerate(arm.joints):
        lines.append(f"  {joint:<14}" + "".join(f"{values[k]:>z10.3f}" for values in columns.values()))
    lines += ["", f"  τ comes from one recursion; the sum of the terms differs from it by {off:.0e} N·m."]
    return Terms(columns, arm.joints, "\n".join(lines))
