"""What a type checker must find: each line marked is one mistake, and no other line has one. It is read, and never run."""

import jax.numpy as jnp
import numpy as np

import torsor

arm = torsor.robots.panda()
q, v, a = torsor.random_state(arm, seed=0)
M, T, tau, start = np.zeros((7, 7)), np.eye(4), np.zeros(7), {"q": q}

# Functions of a state: a string for numbers, a wrong keyword, a missing argument, a string for out.
torsor.inverse_dynamics(arm, q, v, a, wrenches={"link_7": [0.0] * 6}, out=tau)
torsor.inverse_dynamics(arm, "q", v, a)  # mistake
torsor.inverse_dynamics(arm, q, v)  # mistake
torsor.inverse_dynamics(arm, q, v, a, wrench={})  # mistake
torsor.inverse_dynamics(arm, q, v, a, wrenches={"link_7": "6"})  # mistake
torsor.inverse_dynamics("panda", q, v, a)  # mistake
torsor.inverse_dynamics(arm, q, v, a, out="tau")  # mistake
torsor.forward_dynamics(arm, q, v, "tau")  # mistake
torsor.mass_matrix(arm, [0.0] * 7, out=M)
torsor.mass_matrix(arm, q, out="M")  # mistake
torsor.mass_matrix(arm)  # mistake
torsor.coriolis_matrix(arm, q, velocity=v)  # mistake
torsor.gravity_forces(arm, "q")  # mistake
torsor.kinetic_energy(arm, q, "v")  # mistake
torsor.frame_pose(arm, q, "hand_tcp", out=T)
torsor.frame_pose(arm, q, 7)  # mistake
torsor.frame_pose(arm, "hand_tcp", q)  # mistake
torsor.body_jacobian(arm, q)  # mistake
torsor.integrate(arm, q, "v")  # mistake
torsor.inverse_dynamics_derivatives(arm, q, v, "a")  # mistake
torsor.geometry.christoffel_symbols(arm, "q")  # mistake
torsor.derivatives.gravity_forces_derivative(arm)  # mistake
torsor.papers.altafini_equation_report(arm, "q", "hand_tcp")  # mistake

# The results: arrays of NumPy for NumPy's and for lists, arrays of JAX for JAX's.
of_numpy: np.ndarray = torsor.mass_matrix(arm, [0.0] * 7)
of_jax: jnp.ndarray = torsor.mass_matrix(arm, jnp.zeros(7))
not_of_jax: jnp.ndarray = torsor.mass_matrix(arm, np.zeros(7))  # mistake
text: str = torsor.mass_matrix(arm, q)  # mistake

# Kernels and scans.
kernel = torsor.compile(torsor.mass_matrix, arm, {"q": 7})
kernel(q, out=M)
kernel(q=[0.0] * 7)
kernel("q")  # mistake
kernel(q, out="M")  # mistake
kernel.jacobian("a")("q")  # mistake
torsor.compile(torsor.mass_matrix)  # mistake
torsor.compile(torsor.mass_matrix, "panda")  # mistake
torsor.compile("mass_matrix", arm)  # mistake
torsor.compile(torsor.mass_matrix, arm, {"q": "7"})  # mistake
torsor.derivative(torsor.mass_matrix, arm)  # mistake
torsor.derivative(torsor.mass_matrix, arm, wrt=7)  # mistake
loop = torsor.scan(lambda robot, q: {"q": q}, arm, {"q": 7})
loop(steps=10, every=2, q=q)["q"]
loop(steps=10, **start)
loop(q=q)  # mistake
loop(steps="10", q=q)  # mistake
loop(steps=10, q="q")  # mistake
torsor.scan(lambda robot, q: {"q": q}, arm)  # mistake

# Tasks, simulation, linear equations.
torsor.inverse_kinematics(arm, "hand_tcp", T, start=q)
torsor.inverse_kinematics(arm, "hand_tcp")  # mistake
torsor.inverse_kinematics(arm, "hand_tcp", "T")  # mistake
torsor.inverse_kinematics(arm, "hand_tcp", T, start="q")  # mistake
torsor.inverse_kinematics(arm, "hand_tcp", T, guess=q)  # mistake
torsor.simulate(arm, [0.0] * 7, v, duration=1.0, dt=0.01)
torsor.simulate(arm, "q", v, duration=1.0, dt=0.01)  # mistake
torsor.simulate(arm, q, v, duration=1.0)
torsor.simulate(arm, q, v, dt=0.01)  # mistake
torsor.simulate(arm, q, v, duration=1.0, dt=0.01, tau="tau")  # mistake
torsor.simulate(arm, q, v, duration=1.0, step=0.01)  # mistake
torsor.linearise(arm, "q", v, a)  # mistake
torsor.tasks.task_jacobian(arm, "q", "hand_tcp")  # mistake

# Control laws.
torsor.control.pd_gravity(arm, q, v, [0.0] * 7, kp=100.0, kd=20.0)
torsor.control.pd_gravity(arm, "q", v, q, kp=100.0, kd=20.0)  # mistake
torsor.control.pd_gravity(arm, q, v, q, kp="100", kd=20.0)  # mistake
torsor.control.pd_gravity(arm, q, v, q, kp=100.0)  # mistake
torsor.control.pd_gravity(arm, q, v, q, kp=100.0, kd=20.0, ki=1.0)  # mistake
torsor.control.computed_torque(arm, q, v, "q_ref", v, a, 100.0, 20.0)  # mistake
torsor.control.operational_space(arm, q, v, "hand_tcp", T, kp=100.0, kd=20.0)
torsor.control.operational_space(arm, "q", v, "hand_tcp", T, kp=100.0, kd=20.0)  # mistake
torsor.control.operational_space(arm, q, v, "hand_tcp", T, kp=100.0)  # mistake
torsor.control.operational_space(arm, q, v, "hand_tcp", T, 100.0, 20.0, posture="q")  # mistake
torsor.control.resolved_rate(arm, "q", "hand_tcp", [0.0] * 6)  # mistake
torsor.control.prioritised_velocities(arm, "q", [], dt=0.01)  # mistake

# Lie groups and robots.
torsor.lie.se3.exp([0.0] * 6)
torsor.lie.se3.exp("V")  # mistake
torsor.lie.se3.exp()  # mistake
torsor.lie.transform_twist(T, twist=v)  # mistake
torsor.load("arm.urdf", repair=["limits-inverted"])
torsor.load()  # mistake
torsor.load(7)  # mistake
torsor.random_state(arm)  # mistake
torsor.robots.pandas()  # mistake
arm.with_gravity("down")  # mistake
arm.lock(7)  # mistake
arm.masses.sum()  # mistake
