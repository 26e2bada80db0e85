"""Print everything that must not depend on the processor: robots, programs, counts, C files. Run by `test_other_machines`.

With the argument "everything", every public function of every robot of the zoo; with "most", the longest for the small robots
alone, and for two of the arms the main functions; with "some", the main functions. Equal output on two machines means the same
programs.
"""

import hashlib
import inspect
import sys
import tempfile
from pathlib import Path

import numpy as np

import torsor
from torsor._lazy import load_everything
from torsor.border.arrays import prepare
from torsor.compiler.graph import count
from torsor.functions.describe import request_of
from torsor.functions.dispatch import PUBLIC, about_of
from torsor.papers.operation_counts import count_operations

load_everything()
FILES = Path(__file__).parents[1] / "data" / "robots"
R = torsor.robots
ARMS = {"panda": R.panda(), "ur5": R.ur5(), "iiwa": R.iiwa(), "puma560": R.puma560(friction=True)}
SMALL = {
    "pendulum": R.pendulum(),
    "planar2r": R.planar2r(),
    "cart_pole": R.cart_pole(),
    "chain": R.chain(3),
    "planar_chain": R.planar_chain([0.3, 0.2, 0.1], [1.0, 0.7, 0.4]),
}
LIKE_ANOTHER = {"iiwa", "ur5"}  # of these arms, all but the numbers
SOME = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix", "frame_pose", "body_jacobian")

LONG = {
    "christoffel_symbols_derivative", "curvature_norm", "forward_dynamics_hessian", "forward_dynamics_hessian_product",
    "forward_dynamics_second_derivatives", "inverse_dynamics_hessian", "inverse_dynamics_second_derivatives",
    "mass_matrix_second_derivative", "ricci_curvature", "riemann_curvature", "scalar_curvature", "sectional_curvature",
}  # fmt: skip


def arguments(robot, name):
    """Any arguments of the right shapes."""
    v, q, one = np.linspace(0.1, 0.9, robot.nv), np.linspace(0.2, 0.8, robot.nq), np.ones(1)
    shapes = {
        "q": q,
        "q0": q,
        "q1": 0.9 * q,
        "q_rate": q,
        "acceleration": one,
        "forces": one,
        "frame": robot.frames[-1],
    }
    shapes |= {
        "task": torsor.position_task(robot.frames[-1], "vx"),
        "dt": 0.1,
        "wrenches": {robot.frames[-1]: np.ones(6)},
    }
    optional = ("base_motion", "wrenches")
    wanted = inspect.signature(about_of(PUBLIC[name]).algorithm).parameters
    return {
        key: shapes.get(key, v)
        for key, parameter in wanted.items()
        if key != "robot" and (key not in optional or parameter.default is inspect.Parameter.empty)
    }


def show(label, robot, names):
    """The digest of a robot, and of the programs of functions for it with their lengths."""
    print(label, robot.digest)
    for name in names:
        about = about_of(PUBLIC[name])
        if about.arrays_for(robot) is not None:
            continue
        try:
            values, _ = prepare(about.algorithm, (robot,), arguments(robot, name))
            program = about.shortest(request_of(about.algorithm, values)[0])[1]
        except torsor.TorsorError as error:
            print(label, name, "refused:", error)
            continue
        print(label, name, sum(count(program).values()), program.digest())


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def main(extent):
    for label, robot in (SMALL | ARMS).items():
        main = extent == "some" or (extent == "most" and label in LIKE_ANOTHER)
        names = SOME if main else sorted(PUBLIC)
        show(label, robot, [name for name in names if extent == "everything" or label in SMALL or name not in LONG])
    for seed in range(8):
        tree = R.random_tree(2 + seed % 6, seed=seed, mimic=seed % 2 == 0, fixed=seed % 3 == 0, friction=True)
        show(tree.name, tree, SOME[:2])
        joint = tree.coordinates[-1]
        print(tree.name, "locked", tree.lock({joint: tree.neutral[tree.q_slice(joint)]}).digest)
    for path in sorted(FILES.glob("*.urdf")):
        robot = torsor.load(path)
        show(path.name, robot, SOME[:1] if robot.n < 20 else ())
        if robot.n > 1:
            print(path.name, "locked", robot.lock({robot.coordinates[-1]: 0.3}).digest)
    for formulation in ("park_structured", "luh_walker_paul", "kool", "hollerbach_4x4"):
        print(formulation, *(count_operations(formulation, robot, level="simplified") for robot in (6, ARMS["ur5"])))
    with tempfile.TemporaryDirectory() as folder:
        for robot in (ARMS["ur5"], SMALL["planar2r"]):
            torsor.compile(torsor.inverse_dynamics, robot).to_c(Path(folder) / f"{robot.name}_torques.c")
        for path in sorted(Path(folder).iterdir()):
            print(path.name, digest(path.read_text()))


if __name__ == "__main__":
    main(sys.argv[1])
