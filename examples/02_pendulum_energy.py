"""What an integrator does to the energy of a swinging pendulum: Euler, semi-implicit Euler and Runge-Kutta.

Needs torsor alone.

python examples/02_pendulum_energy.py
"""

import numpy as np

import torsor

pendulum = torsor.robots.pendulum(mass=1.0, length=1.0)
for method in ("euler", "semi_implicit_euler", "rk4"):
    run = torsor.simulate(pendulum, [0.0], [0.0], duration=5.0, dt=0.01, method=method)
    drift = np.max(np.abs(run.energy - run.energy[0]))
    print(f"{method:<20} energy off by at most {drift:.1e} J")
