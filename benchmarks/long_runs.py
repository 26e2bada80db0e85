"""Variational steps: how many iterations, how the cost grows, what stays over long runs; `jax.grad` through a simulation."""

from __future__ import annotations

import tempfile

import numpy as np

import torsor
from measure import best
from robots import path_of, torsor_robot
from starting import run_python
from torsor.simulation.variational_run import run_variational

CHAINS = (4, 8, 16, 32, 64, 128)
LONG, MOMENTUM = 1_000_000, 100_000  # steps


def measure(rounds: int, quick: bool) -> dict[str, float]:
    """Microseconds a step, drifts of energy and momentum, seconds of a first gradient."""
    torsor.set_threads(1)
    table = chains(rounds, CHAINS[:4] if quick else CHAINS) | energy(LONG // 10 if quick else LONG)
    table |= momentum(MOMENTUM // 10 if quick else MOMENTUM) | gradient()
    print("\nVariational steps and gradients")
    for name, value in table.items():
        print(f"  {name:<84}{value:12.4g}")
    return table


def chains(rounds: int, sizes: tuple[int, ...]) -> dict[str, float]:
    """Chains that fall from rest: a step of 1 ms, half a second long."""
    table, times = {}, {}
    for n in sizes:
        chain, q, v = torsor.robots.chain(n), np.full(n, 0.3), np.zeros(n)
        run = run_variational(chain, q, v, dt=1e-3, steps=500)
        table[f"variational, chain of {n}: most iterations of a step (goal: at most 4)"] = float(run.iterations.max())
        call = {"x": lambda chain=chain, q=q, v=v: run_variational(chain, q, v, dt=1e-3, steps=500)}
        times[n] = 1e6 * best(call, rounds=min(3, rounds))["x"] / 500
        table[f"variational, chain of {n}: µs a step"] = times[n]
    long = [n for n in sizes if n >= 16]  # shorter ones have another program
    growth = np.log(times[long[-1]] / times[long[0]]) / np.log(long[-1] / long[0])
    table[f"variational, growth from {long[0]} to {long[-1]} joints, as a power of their number"] = float(growth)
    return table


def energy(steps: int) -> dict[str, float]:
    """The chain of seven random links of the tests, let go at 0.1 rad, steps of 10 ms."""
    chain = torsor_robot("chain7")
    q, v = np.full(7, 0.1), np.zeros(7)
    run = run_variational(chain, q, v, dt=0.01, steps=steps, every=10)
    energies = torsor.kinetic_energy(chain, run.q, run.v) + torsor.potential_energy(chain, run.q)
    tenth = len(energies) // 10
    rough = torsor.simulate(chain, q, v, duration=1000.0, dt=0.01, every=10, within_limits=False).energy
    last = len(rough) // 10
    return {
        f"chain7, {steps:,} variational steps of 10 ms: mean energy, last tenth against first, J (goal: 2e-3)": abs(
            float(energies[-tenth:].mean() - energies[:tenth].mean())
        ),
        "chain7, the same with 100,000 steps of RK4, J": abs(float(rough[-last:].mean() - rough[:last].mean())),
        "chain7, most iterations of a variational step": float(run.iterations.max()),
    }


def momentum(steps: int) -> dict[str, float]:
    """A free hull with an arm of three joints, without gravity."""
    hull = torsor.Inertia.box((0.3, 0.2, 0.4), mass=2.0)
    joints = [torsor.Joint(name="float", kind="free", link="link_0", inertia=hull)]
    for k, axis in enumerate(np.eye(3), 1):
        link = torsor.Inertia.box((0.1, 0.2, 0.3), mass=1.0 / k, com=(0.0, 0.1, 0.2))
        pose = torsor.pose_from((0.1, 0.05, 0.3))
        names = {"name": f"joint_{k}", "parent": f"link_{k - 1}", "link": f"link_{k}"}
        joints.append(torsor.Joint(kind="revolute", axis=axis, pose=pose, inertia=link, **names))
    arm = torsor.assemble(joints, gravity=(0.0, 0.0, 0.0))
    q, v, _ = torsor.random_state(arm, seed=3)
    run = run_variational(arm, q, v, dt=0.01, steps=steps, every=10)
    momenta = torsor.dynamics.spatial_momentum(arm, run.q, run.v)
    # About the origin, from which the robot moves away: angular momentum has the size of p × r
    size = np.linalg.norm(momenta[0]) + np.abs(run.q[:, :3]).max() * np.linalg.norm(momenta[0, 3:])
    worst = float(np.abs(momenta - momenta[0]).max() / size)
    return {f"floating arm, {steps:,} variational steps: drift of momentum, relative (goal: 1e-12)": worst}


def gradient() -> dict[str, float]:
    """Seconds of the first `jax.grad` through 50 steps of RK4 of the UR5 in a new process, and of the next."""
    code = (
        "import time, jax, jax.numpy as jnp\njax.config.update('jax_enable_x64', True)\nimport torsor\n"
        f"arm = torsor.load({str(path_of('ur5'))!r})\n"
        "torsor.inverse_dynamics(torsor.robots.pendulum(), [0.], [0.], [0.])\n"
        "jax.grad(lambda x: x * x)(1.0)\n"  # LLVM and XLA themselves start here
        "q, v = jnp.array([0.1, -1.0, 1.0, -0.5, 0.3, 0.2]), jnp.zeros(6)\n"
        "def end(tau):\n"
        "    run = torsor.simulate(arm, q, v, duration=0.05, dt=1e-3, tau=tau, within_limits=False)\n"
        "    return (run.q[-1] ** 2).sum()\n"
        "slope = jax.jit(jax.grad(end))\n"
        "for _ in range(2):\n"
        "    t = time.process_time(); slope(0.1 + 0.0 * q).block_until_ready()\n"
        "    print(time.process_time() - t)"
    )
    try:
        import jax  # noqa: F401
    except ImportError:
        return {}
    with tempfile.TemporaryDirectory() as place:
        first, second = map(float, run_python(code, place).split())
    name = "jax.grad through 50 steps of RK4 of the UR5, s of processor time: "
    return {name + "first call, empty cache": first, name + "second": second}
