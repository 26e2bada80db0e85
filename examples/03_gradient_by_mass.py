"""How the torque of a UR5 depends on the mass in its hand: JAX differentiates through the robot itself.

Needs torsor[jax].

python examples/03_gradient_by_mass.py
"""

import sys

import torsor

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    sys.exit("this example needs JAX: pip install 'torsor[jax]'.")

jax.config.update("jax_enable_x64", True)
arm = torsor.robots.ur5()
q, v, a = torsor.random_state(arm, seed=0)


def torque(mass):
    return torsor.inverse_dynamics(arm.with_payload("tool0", torsor.Inertia(mass, jnp.array([0.0, 0.0, 0.1]))), q, v, a)


for joint, slope in zip(arm.joints, jax.jacfwd(torque)(2.0), strict=True):
    print(f"{joint:<20} {slope:+.4f} N·m per kg")
