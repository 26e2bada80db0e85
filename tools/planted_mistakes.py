"""What a type checker must find: each line marked is one mistake, and no other line has one. It is read, and never run."""

import numpy as np

import torsor

arm = torsor.robots.panda()
q, v, a = torsor.random_state(arm, seed=0)
M, T = np.zeros((7, 7)), np.eye(4)

# Functions of a state.
torsor.inverse_dynamics(arm, q, v, a)
torsor.inverse_dynamics(arm, "q", v, a)  # mistake
torsor.inverse_dynamics(arm, q, v)  # mistake
torsor.inverse_dynamics(arm, q, v, a, wrench={})  # mistake
torsor.inverse_dynamics(arm, q, v, a, wrenches={"link_7": "6"})  # mistake
torsor.inverse_dynamics("panda", q, v, a)  # mistake
torsor.mass_matrix(arm, [0.0] * 7, out=M)
torsor.mass_matrix(arm, q, out="M")  # mistake
torsor.mass_matrix(arm)  # mistake
torsor.frame_pose(arm, q, "hand_tcp", out=T)
torsor.frame_pose(arm, q, 7)  # mistake
torsor.inverse_dynamics_derivatives(arm, q, v, "a")  # mistake

# Kernels.
kernel = torsor.compile(torsor.mass_matrix, arm, {"q": 7})
