"""Dynamics along a task: identities of projectors and inverses, the equations of motion, singular directions, manipulability."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from property_checks import DIFFERENTIATED, assert_close, derivative, derivative_along, largest, times, transposed
from property_strategies import Case, cases, mass_condition, robots

import torsor
from torsor.arrays.symmetric_eigen import jacobi_eigen
from torsor.tasks import Task

few = settings(max_examples=15)
BATCHES = ((), (3,), (2, 2), (0,))
WELL = 1e5  # condition number of J M⁻¹ Jᵀ up to which rounding errors, times it, still say something
REDUNDANT = torsor.robots.panda().rename({"hand_tcp": "tool"})


def task_of(case: Case) -> tuple[Task, float]:
    """A task of some frame whose rows are independent at all states of a case, and what rounding is magnified by."""
    robot, q, rng = case.robot, case.q, case.rng
    make = rng.choice([torsor.pose_task, torsor.position_task, torsor.orientation_task])
    whole = make(str(rng.choice(robot.frames[1:])))
    rows = rng.permutation(whole.size)[: int(rng.integers(1, min(whole.size, robot.nv) + 1))]
    task = whole.select([int(row) for row in rows])
    some = np.concatenate(
        [q.reshape(-1, robot.nq), torsor.random_configuration(robot, seed=rng, batch=(1,))]
    )  # a task of a batch of zero states must be one, too
    J = task.jacobian(robot, some)
    gram = J @ torsor.dynamics.inverse_mass_matrix(robot, some) @ transposed(J)
    worst = float(np.linalg.cond(gram).max())
    assume(np.isfinite(worst) and worst < WELL)
    return task, worst * mass_condition(robot, q)


heavy = robots(most=6).filter(lambda robot: robot.parameters.inertias[:, 0].sum() > 0)


@few
@given(cases(heavy, BATCHES))
def test_the_consistent_inverse_and_the_projector_are_what_they_are_called(case):
    robot, q, v = case.robot, case.q, case.v
    task, worst = task_of(case)
    d = torsor.tasks.task_space_dynamics(robot, q, v, task)
    M, N = torsor.mass_matrix(robot, q), d.projector
    near = 1e-14 * worst + 1e-12
    assert_close(d.jacobian @ d.inverse, np.broadcast_to(np.eye(task.size), d.inertia.shape), near)
    assert_close(N @ d.inverse, np.zeros_like(d.inverse), near, scale=d.inverse)
    assert_close(N @ N, N, near)
    assert_close(transposed(N) @ M, M @ N, near, scale=largest(M) * largest(N))
    assert_close(d.inertia, transposed(d.inertia), near)
    assert np.all(np.linalg.eigvalsh(d.inertia) > 0)
    assert_close(d.inertia @ d.jacobian @ torsor.dynamics.inverse_mass_matrix(robot, q), transposed(d.inverse), near)
    assert_close(d.coriolis + d.gravity, d.bias)
    assert_close(torsor.tasks.task_space_dynamics(robot, q, np.zeros_like(v), task).bias, d.gravity, near, scale=d.bias)


@few
@given(cases(heavy, BATCHES))
def test_forces_along_a_task_give_the_acceleration_of_the_whole_robot(case):
    """Λ ÿ + η = F for the robot that forward dynamics moves, whatever else is done to it within the null space."""
    robot, q, v = case.robot, case.q, case.v
    task, worst = task_of(case)
    near = 1e-13 * worst + 1e-11
    d = torsor.tasks.task_space_dynamics(robot, q, v, task)
    F, null = case.rng.normal(size=(*case.batch, task.size)), case.tau()
    inside = torsor.friction_forces(robot, v) + torsor.spring_forces(robot, q)
    tau = torsor.tasks.task_forces_to_torques(robot, q, task, F, null=null) + inside
    a = torsor.forward_dynamics(robot, q, v, tau)
    y = times(d.jacobian, a) + d.drift
    size = largest(d.inertia) * (largest(y) + largest(d.drift)) + largest(d.bias)
    assert_close(times(d.inertia, y) + d.bias, F, near, scale=size)
    assert_close(torsor.tasks.workspace_acceleration(robot, q, v, task, tau), y, near, scale=largest(a))
    felt = torsor.tasks.torques_to_task_forces(robot, q, task, tau - inside)
    assert_close(felt, F, near, scale=largest(d.inverse) * largest(tau))
    pushed = torsor.tasks.task_space_forward_dynamics(robot, q, v, task, F)
    lost = times(d.jacobian, times(torsor.dynamics.inverse_mass_matrix(robot, q), inside))
    assert_close(pushed, y - lost, near, scale=largest(a) + largest(lost))


def test_workspace_accelerations_refuse_the_order_forces_then_task():
    """Tasks come before quantities: the other order is refused, for a frame name as for a task."""
    q, v, tau = torsor.random_state(REDUNDANT, seed=1)
    for task in ("tool", torsor.position_task("tool")):
        with pytest.raises(torsor.ArgumentTypeError, match="workspace_acceleration: `tau` must be numbers, but the"):
            torsor.tasks.workspace_acceleration(REDUNDANT, q, v, tau, task)


@few
@given(cases(heavy, BATCHES))
def test_inverse_dynamics_of_a_task_gives_it_the_acceleration_asked_for(case):
    robot, q, v = case.robot, case.q, case.v
    task, worst = task_of(case)
    wanted, null = case.rng.normal(size=(*case.batch, task.size)), case.tau()
    for rest in ({}, {"null": null}):
        tau = torsor.tasks.task_space_inverse_dynamics(robot, q, v, task, wanted, **rest)
        a = torsor.forward_dynamics(robot, q, v, tau)
        got = torsor.tasks.workspace_acceleration(robot, q, v, task, tau)
        scale = largest(task.jacobian(robot, q)) * largest(a) + largest(task.drift(robot, q, v))
        assert_close(got, wanted, 1e-13 * worst + 1e-11, scale=scale)
        d = torsor.tasks.task_space_dynamics(robot, q, v, task)
        same = d.torques(wanted, **rest) + torsor.friction_forces(robot, v) + torsor.spring_forces(robot, q)
        assert_close(tau, same, 1e-13 * worst + 1e-11, scale=largest(d.inertia) * largest(wanted) + largest(d.bias))


@pytest.mark.parametrize("robot, frame", [(torsor.robots.ur5(), "tool0"), (REDUNDANT, "tool")])
def test_inertia_and_bias_in_other_axes_are_those_of_the_same_motion(robot, frame):
    """Λ ÿ + η = F of forward dynamics in body, space and mixed axes; energy, torques and projectors do not know of axes."""
    q, v, _ = torsor.random_state(robot, seed=4, batch=(3,))
    T = torsor.frame_pose(robot, q, frame)
    R, none = T[..., :3, :3], np.zeros((3, 3, 3))
    turned = np.block([[R, none], [none, R]])
    F, body = np.linspace(-1.0, 2.0, 6), torsor.tasks.task_space_dynamics(robot, q, v, frame)
    for axes, X in (("space", torsor.lie.Ad(T)), ("mixed", turned)):
        task = torsor.pose_task(frame, axes=axes)
        d = torsor.tasks.task_space_dynamics(robot, q, v, task)
        back = np.linalg.inv(X)
        near = 1e-10 * largest(d.inertia)
        assert_close(d.inertia, transposed(back) @ body.inertia @ back, near)
        assert_close(d.gravity, times(transposed(back), body.gravity), near)
        assert_close(d.projector, body.projector, 1e-9)
        a = torsor.forward_dynamics(robot, q, v, times(transposed(d.jacobian), F) + torsor.friction_forces(robot, v))
        rate = derivative(  # of the twist in these axes, by definition
            lambda t, task=task, a=a: times(
                task.jacobian(robot, torsor.integrate(robot, q, v * t + 0.5 * a * t**2)), v + a * t
            )
        )
        assert_close(times(d.inertia, rate) + d.bias, np.broadcast_to(F, rate.shape), 1e-6, scale=d.inertia)
        assert_close(torsor.tasks.task_space_forward_dynamics(robot, q, v, task, F), rate, 1e-6, scale=rate)


@few
@given(cases(robots(most=5), ((), (3,))))
def test_manipulability_is_the_volume_of_the_ellipsoid_and_its_gradient_the_derivative(case):
    robot, q = case.robot, case.q
    task, _ = task_of(case)
    measures = {
        "velocity": torsor.tasks.manipulability,
        "energy": torsor.tasks.inertia_manipulability,
        "force": torsor.tasks.dynamic_manipulability,
    }
    for bounded, measure in measures.items():
        found = torsor.tasks.manipulability_ellipsoid(robot, q, task, bounded=bounded)
        assert_close(measure(robot, q, task) / found.volume, np.ones(case.batch), 1e-7)
    J = task.jacobian(robot, q)
    assume(np.linalg.cond(J).max() < 100)
    slopes = [
        derivative_along(lambda r, x: torsor.tasks.manipulability(r, x, task), robot, q, e) for e in np.eye(robot.nv)
    ]
    assert_close(torsor.tasks.manipulability_gradient(robot, q, task), np.stack(slopes, axis=-1), 10 * DIFFERENTIATED)


def test_at_a_singularity_nothing_is_made_up():
    robot, task = torsor.robots.planar2r(), torsor.position_task("tip", ["vx", "vy"])
    q, v = np.array([[0.4, 0.0], [0.4, np.pi], [0.4, 1.0]]), np.ones(2)
    found = torsor.tasks.task_space_dynamics(robot, q, v, task)
    assert np.isnan(found.inertia[:2]).all()
    assert np.isnan(torsor.tasks.task_space_inverse_dynamics(robot, q, v, task, [0.0, 0.0])[:2]).all()
    assert np.isfinite(found.inertia[2]).all()
    np.testing.assert_array_equal(torsor.tasks.manipulability(robot, q, task)[:2], 0.0)
    assert np.isnan(torsor.tasks.manipulability_gradient(robot, q, task)[:2]).all()
    assert np.isfinite(torsor.tasks.task_space_forward_dynamics(robot, q, v, task, [1.0, 0.0])).all()


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(5))
def test_at_singularities_of_a_large_arm_nothing_is_made_up(seed):
    """Stretched out, and with the wrist stretched: random otherwise."""
    q, v, _ = torsor.random_state(REDUNDANT, seed=seed)
    q[1:6] = 0.0
    assert torsor.tasks.task_rank(REDUNDANT, q, "tool").is_singular
    assert np.isnan(torsor.tasks.task_space_dynamics(REDUNDANT, q, v, "tool").inertia).any()
    assert torsor.tasks.manipulability(REDUNDANT, q, "tool") == 0.0


def test_reports_of_tasks_know_their_robot_and_show_themselves_shortly():
    q, v, _ = torsor.random_state(REDUNDANT, seed=3, batch=(50,))
    for found in (
        torsor.tasks.task_rank(REDUNDANT, q, "tool"),
        torsor.tasks.manipulability_ellipsoid(REDUNDANT, q, "tool"),
        torsor.tasks.damped_task_space_dynamics(REDUNDANT, q, v, "tool").report,
    ):
        assert found.robot is REDUNDANT
        assert repr(found).startswith(type(found).__name__) and "\n" not in repr(found) and len(repr(found)) < 400
        assert "50" in str(found) and found._repr_html_() == f"<pre>{found!s}</pre>".replace("'", "&#x27;")


FLAT = torsor.robots.planar_chain([0.5, 0.4, 0.3], [1.0, 0.8, 0.5])
OF_A_TASK = {
    "task_space_dynamics": lambda robot, q, task: torsor.tasks.task_space_dynamics(robot, q, 0 * q, task).inertia,
    "task_space_inverse_dynamics": lambda robot, q, task: torsor.tasks.task_space_inverse_dynamics(
        robot, q, 0 * q, task, np.ones(task.size)
    ),
    "torques_to_task_forces": lambda robot, q, task: torsor.tasks.torques_to_task_forces(robot, q, task, q),
    "horizontal_lift": torsor.redundancy.horizontal_lift,
    "pseudoinverse_lift": torsor.redundancy.pseudoinverse_lift,
    "manipulability_gradient": torsor.tasks.manipulability_gradient,
    "split_velocity": lambda robot, q, task: torsor.redundancy.split_velocity(robot, q, q, task),
}


@pytest.mark.parametrize("backend", ["compiled", "numpy"])
@pytest.mark.parametrize("name", OF_A_TASK)
def test_rows_that_never_move_are_refused_by_name(name, backend):
    q = np.array([0.3, 0.5, 0.7])
    for task, said in (
        (torsor.position_task("tip"), r"no joint moves vz\. Select the others: task\.select\(\['vx', 'vy'\]\)"),
        (torsor.position_task("base"), r"no joint moves any of its rows \(vx, vy, vz\)"),
        (torsor.stack_tasks(*[torsor.position_task("tip", "vx")] * 2), "dependent at every configuration"),
    ):
        with torsor.backend(backend), pytest.raises(torsor.TorsorError, match=said):
            OF_A_TASK[name](FLAT, q, task)


@pytest.mark.parametrize("backend", ["compiled", "numpy"])
@pytest.mark.parametrize("name", OF_A_TASK)
def test_rows_that_have_vanished_are_not_made_up_of_rounding_errors(name, backend):
    """At (π/2, 0, 0) nothing moves the tip up or down: all of J is 1e-17, and nothing to compare it with."""
    up = torsor.position_task("tip", "vy")
    with torsor.backend(backend):
        assert np.isnan(OF_A_TASK[name](FLAT, np.array([np.pi / 2, 0.0, 0.0]), up)).all()
        assert np.isfinite(OF_A_TASK[name](FLAT, np.array([np.pi / 2, 1e-6, 0.0]), up)).all()
        rank = torsor.tasks.task_rank(FLAT, [np.pi / 2, 0.0, 0.0], up)
    assert rank.rank == 0 and rank.usual_rank == 1 and rank.is_singular


@pytest.mark.compiled
def test_in_single_precision_rounding_errors_are_larger():
    """Next to a singularity: what double precision can still tell from zero, single cannot."""
    arm, wrist = torsor.robots.ur5(), np.array([0.2, -1.1, 1.3, -0.4, 0.0, 0.5])
    for offset, single, double in ((0.0, False, False), (1e-6, False, True), (1e-5, False, True), (0.01, True, True)):
        q = wrist + offset * np.eye(6)[4]
        inertias = {}
        for kind, finite in ((np.float32, single), (np.float64, double)):
            inertias[kind] = torsor.tasks.task_space_dynamics(arm, q.astype(kind), np.zeros(6, kind), "tool0").inertia
            assert inertias[kind].dtype == kind
            assert np.isfinite(inertias[kind]).all() == finite
        if single:  # what is told is true: ε of single precision times the condition of JM⁻¹Jᵀ, about 10⁴, leaves 10⁻³
            assert_close(inertias[np.float32], inertias[np.float64], 1e-2)


@pytest.mark.parametrize("backend", ["compiled", "numpy"])
def test_what_is_not_a_number_stays_so(backend):
    q = np.full((2, 3), 0.3)
    q[0] = np.nan
    task = torsor.position_task("tip", ["vx", "vy"])
    with torsor.backend(backend):
        for function in (
            torsor.tasks.manipulability,
            torsor.tasks.inertia_manipulability,
            torsor.tasks.dynamic_manipulability,
        ):
            assert np.array_equal(np.isnan(function(FLAT, q, task)), [True, False])
        report = torsor.tasks.damped_task_space_dynamics(FLAT, q[0], q[0], task).report
        rank = torsor.tasks.task_rank(FLAT, q, task)
        assert rank.rank.tolist() == [0, 2] and np.isnan(rank.singular_values[0]).all()
        assert "nothing is known" in str(torsor.tasks.task_rank(FLAT, q[0], task))
        for bounded in ("velocity", "energy", "force"):
            lengths = torsor.tasks.manipulability_ellipsoid(FLAT, q, task, bounded=bounded).lengths
            assert np.isnan(lengths[0]).all() and (lengths[1] > 0.0).all()
    assert report.is_damped and "nothing is known" in str(report)


@pytest.mark.parametrize(
    ("harder", "place"),
    [((1, 1), 0.0), ((20, 20), 0.0), ((1, 20), 0.0), ((1, 2), 0.3)],
    ids=["equal", "equal and damped", "one damped", "not equal"],
)
def test_damped_dynamics_have_derivatives_where_mobilities_are_equal_too(harder, place, jax_in_doubles):
    """Two slides at right angles, each row measured by its own mobility times a factor: equal ones are exactly so."""
    body = torsor.Inertia(1.0, np.zeros(3), np.eye(3))
    slides = [
        torsor.Joint(name=name, kind="prismatic", axis=axis, link=f"after {name}", inertia=body)
        for name, axis in (("x", [1, 0, 0]), ("y", [0, 1, 0]))
    ]
    robot = torsor.assemble(slides, name="slides")
    task = torsor.function_task(lambda robot, q: [np.cos(q[1]) * q[0], np.sin(q[1]) * q[0] + q[1]], 2)
    scales = np.array(harder) / np.sqrt([2.0, 1.0])

    def inertia(robot, q):
        return torsor.tasks.damped_task_space_dynamics(
            robot, q, 0 * q, task, scales=scales, limit=1e-2
        ).dynamics.inertia

    q, dq = np.array([place, 0.0]), 1e-6
    slopes = [(inertia(robot, q + e) - inertia(robot, q - e)) / (2 * dq) for e in dq * np.eye(2)]
    by_difference = np.stack(slopes, axis=-1)
    assert largest(by_difference) > 1e-3
    assert_close(torsor.derivative(inertia, robot, {"q": 2}, wrt="q")(q), by_difference, 1e-6)
    slope = jax_in_doubles.jit(jax_in_doubles.jacfwd(lambda q: inertia(robot, q)))
    assert_close(np.asarray(slope(q)), by_difference, 1e-6)
    if place:  # second derivatives too, where mobilities differ
        bend = np.stack([(np.asarray(slope(q + e)) - slope(q - e)) / (2 * dq) for e in dq * np.eye(2)], axis=-1)
        assert_close(np.asarray(jax_in_doubles.jit(jax_in_doubles.jacfwd(slope))(q)), bend, 1e-6)


def test_what_decides_by_numbers_says_so_inside_a_trace(jax_in_doubles):
    task = torsor.position_task("tip", ["vx", "vy"])
    for name in ("task_rank", "manipulability_ellipsoid"):
        function = getattr(torsor.tasks, name)
        with pytest.raises(torsor.TorsorError, match=f"{name}: works with plain numbers, and cannot run inside jit"):
            jax_in_doubles.jit(lambda q, f=function: f(FLAT, q, task)[2])(np.zeros(3))
        with pytest.raises(torsor.TorsorError, match=f"{name}: works with plain numbers, and cannot run inside jit"):
            torsor.compile(lambda robot, q, f=function: f(robot, q, task)[1], FLAT, {"q": 3})
    assert str(torsor.tasks.task_rank(FLAT, np.zeros(3), "base")) == "rank 0 of 6: no joint moves it"
    dynamics = torsor.tasks.task_space_dynamics(FLAT, np.ones(3), np.zeros(3), task)
    with pytest.raises(torsor.ShapeError, match=r"`acceleration` must have shape \(\.\.\., 2\), got \(3,\)"):
        dynamics.torques([1.0, 0.0, 0.0])


def test_more_rows_than_freedoms_are_refused():
    robot = torsor.robots.planar2r()
    with pytest.raises(torsor.TorsorError, match="of robot 'planar2r' has 6 rows and the robot 2 degrees of freedom"):
        torsor.tasks.task_space_dynamics(robot, [0.1, 0.2], [0.0, 0.0], "tip")
    with pytest.raises(
        torsor.ShapeError, match=r"`forces` must have shape \(\.\.\., 3\) for task 'tip' \(vx, vy, vz\)"
    ):
        torsor.tasks.task_space_forward_dynamics(robot, [0.1, 0.2], [0.0, 0.0], torsor.position_task("tip"), [1.0])


def near_singular(size: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """States of the large arm, ever nearer to stretched out."""
    q, v, _ = torsor.random_state(REDUNDANT, seed=3, batch=(size,))
    q[:, 1:6] *= np.geomspace(1e-7, 1.0, size)[:, None]
    return q, v


@pytest.mark.compiled
def test_only_singular_directions_are_damped_and_the_report_says_what_is_given_up():
    q, v = near_singular()
    task, wanted = torsor.pose_task("tool"), np.linspace(-1.0, 1.0, 6)
    found, report = torsor.tasks.damped_task_space_dynamics(REDUNDANT, q, v, task)
    exact = torsor.tasks.task_space_dynamics(REDUNDANT, q, v, task)
    assert 0 < report.is_damped.sum() < report.is_damped.size
    sound = ~report.is_damped
    for x, y in zip(found, exact, strict=True):
        assert_close(x[sound], y[sound], 1e-10)
    tau = found.torques(wanted)
    got = torsor.tasks.workspace_acceleration(REDUNDANT, q, v, task, tau)
    assert_close(wanted - got, report.given_up(wanted), 1e-10, scale=largest(tau))
    assert_close(report.given_up(wanted)[sound], np.zeros((sound.sum(), 6)))
    # What is orthogonal to the damped directions (in units of what is usual) is met exactly.
    scales = torsor.tasks.typical_scales.usual_scales(task, REDUNDANT)
    weighed = transposed(report.directions / scales[:, None] ** 2) @ report.given_up(wanted)[..., None]
    kept = report.achieved == 1.0
    assert largest(weighed[..., 0][kept]) < 1e-9 * largest(weighed)
    assert largest(tau) < 1e3  # N·m, while undamped they would be
    assert largest(np.nan_to_num(exact.torques(wanted))) > 1e5


@pytest.mark.compiled
def test_the_damped_inertia_is_bounded_and_continuous_and_its_projector_exact():
    q, v = near_singular()
    task = torsor.pose_task("tool")
    found, report = torsor.tasks.damped_task_space_dynamics(REDUNDANT, q, v, task, limit=1e-2)
    scales = torsor.tasks.typical_scales.usual_scales(task, REDUNDANT)
    weighed = scales[:, None] * found.inertia * scales
    assert np.linalg.eigvalsh(weighed).max() <= 1 / 1e-2 * (1 + 1e-9)
    N, M = found.projector, torsor.mass_matrix(REDUNDANT, q)
    # Rounding errors of 1e-15 in directions whose mobility is 1e-16 of the usual
    assert_close(N @ N, N, 1e-6)
    assert_close(found.jacobian @ N, np.zeros_like(found.jacobian), 1e-7)
    assert_close(transposed(N) @ M, M @ N, 1e-9)
    mobility = report.mobility
    assert np.all(np.diff(mobility, axis=-1) <= 0)
    np.testing.assert_allclose(report.achieved, np.minimum(mobility / 1e-2, 1.0) ** 2, atol=1e-12)


@pytest.mark.compiled
def test_damped_dynamics_are_the_same_in_numpy_in_jax_and_as_part_of_a_kernel(jax_in_doubles):
    """Eigenvectors by LAPACK, by XLA, and by rotations written out: what is made of them is unique."""
    q, v = near_singular(60)
    task = torsor.pose_task("tool")
    here = torsor.tasks.damped_task_space_dynamics(REDUNDANT, q, v, task)
    with torsor.backend("numpy"):
        plain = torsor.tasks.damped_task_space_dynamics(REDUNDANT, q, v, task)
    there = torsor.tasks.damped_task_space_dynamics(REDUNDANT, *map(jax_in_doubles.numpy.asarray, (q, v)), task)

    def inertia(robot, q, v):
        return torsor.tasks.damped_task_space_dynamics(robot, q, v, task).dynamics.inertia

    kernel = torsor.compile(inertia, REDUNDANT, {"q": REDUNDANT.nq, "v": REDUNDANT.nv})
    assert_close(kernel(q, v), plain.dynamics.inertia, 1e-9)
    for found in (here, there):
        for name in ("inertia", "bias", "inverse"):
            assert_close(getattr(found.dynamics, name), getattr(plain.dynamics, name), 1e-9)
        assert_close(found.report.mobility, plain.report.mobility, 1e-12)
        assert_close(found.report.lost, plain.report.lost, 1e-9)
    many = torsor.stack_tasks(task, torsor.position_task("link_4"), torsor.position_task("tool"))
    by_lapack = torsor.tasks.damped_task_space_dynamics(REDUNDANT, q, v, many)
    assert by_lapack.dynamics.inertia.shape == (60, 12, 12)
    assert np.isfinite(by_lapack.dynamics.inertia).all()


@pytest.mark.parametrize("m", [1, 2, 3, 5, 6])
def test_eigenvectors_by_rotations_are_eigenvectors(m):
    """Also of equal and of vanishing eigenvalues, largest first."""
    rng = np.random.default_rng(m)
    Q = np.linalg.qr(rng.normal(size=(300, m, m)))[0]
    values = np.where(rng.random((300, 1)) < 0.5, rng.integers(0, 3, (300, m)), 10.0 ** rng.uniform(-12, 0, (300, m)))
    A = Q * values[:, None, :] @ transposed(Q)
    found, U = jacobi_eigen(A)
    assert_close(found, -np.sort(-values, axis=-1))
    assert_close(U * found[:, None, :] @ transposed(U), A)
    assert_close(transposed(U) @ U, np.broadcast_to(np.eye(m), U.shape))


def test_the_report_names_the_direction_that_is_lost():
    robot, task = torsor.robots.planar2r(), torsor.position_task("tip", ["vx", "vy"])
    report = torsor.tasks.damped_task_space_dynamics(robot, [0.0, 0.0], [1.0, 0.0], task).report
    assert str(report) == "along 1 vx: 100 % of the acceleration is given up (mobility 0 of the usual)"
    np.testing.assert_allclose(report.given_up([0.0, 1.0]), [2.0, 0.0], atol=1e-12)  # the tip turns at 1 rad/s, 2 m out
    assert "nothing is damped" in str(
        torsor.tasks.damped_task_space_dynamics(robot, [0.0, 1.0], [0.0, 0.0], task).report
    )
    many = torsor.tasks.damped_task_space_dynamics(robot, [[0.0, 0.0], [0.0, 1.0]], np.zeros(2), task).report
    assert str(many).startswith("1 of 2 states are damped")


def test_a_task_with_dependent_rows_can_be_damped():
    robot = torsor.robots.planar2r()
    found, report = torsor.tasks.damped_task_space_dynamics(robot, [0.3, 0.8], [1.0, -1.0], "tip")
    assert np.isfinite(np.concatenate([np.ravel(x) for x in found])).all()
    np.testing.assert_allclose(report.achieved, [1, 1, 0, 0, 0, 0], atol=1e-12)  # of singular values, to rounding
    np.testing.assert_allclose(found.projector, 0.0, atol=1e-12)


def test_bad_limits_and_scales_are_refused():
    robot = torsor.robots.planar2r()
    with pytest.raises(torsor.TorsorError, match="`limit` must be positive"):
        torsor.tasks.damped_task_space_dynamics(robot, [0, 0], [0, 0], "tip", limit=0.0)
    with pytest.raises(torsor.ShapeError, match="`scales` must be 6 positive numbers"):
        torsor.tasks.damped_task_space_dynamics(robot, [0, 0], [0, 0], "tip", scales=[1.0])
    with pytest.raises(torsor.UnknownName, match="`bounded` must be 'velocity', 'energy' or 'force', got 'speed'"):
        torsor.tasks.manipulability_ellipsoid(robot, [0, 0], "tip", bounded="speed")


def test_the_rank_of_a_task_says_what_is_lost():
    robot, task = torsor.robots.planar2r(), torsor.position_task("tip")
    q = np.array([[0.0, 0.0], [0.0, 1.0]])
    found = torsor.tasks.task_rank(robot, q, task)
    np.testing.assert_array_equal(found.rank, [1, 2])
    np.testing.assert_array_equal(found.null_dimension, [1, 0])
    np.testing.assert_array_equal(found.is_singular, [True, False])
    np.testing.assert_array_equal(found.is_onto, [False, False])  # never along z
    assert found.usual_rank == 2
    assert found.condition[0] == np.inf
    J = task.jacobian(robot, q[1])
    assert found.smallest[1] == pytest.approx(np.linalg.svd(J)[1][1], rel=1e-12)
    assert str(torsor.tasks.task_rank(robot, q[0], task)) == "rank 1 of 3 (usually 2), condition inf; lost: 1 vx"
    assert str(found) == "1 of 2 states are singular; usual rank 2"


def test_altafinis_equation_holds_for_a_free_body_of_unit_inertia_and_not_for_an_arm():
    """(18) as printed, E004-9: exact where its connection is that of the identity metric; elsewhere far off."""
    body = torsor.Inertia(1.0, (0.0, 0.0, 0.0), np.eye(3))
    joints = [
        torsor.Joint(name="free", kind="free", link="body", inertia=body),
        torsor.Joint(name="apart", kind="revolute", axis=(1, 0, 0), link="other", inertia=body),
    ]
    robot = torsor.assemble(joints, gravity=(0.0, 0.0, 0.0))  # seven freedoms: redundant for the pose of the body
    q, v, tau = torsor.random_state(robot, seed=2)
    assert torsor.papers.altafini_equation_report(robot, q, "body").applies
    printed = torsor.papers.altafini_workspace_acceleration(robot, q, v, "body", tau)
    np.testing.assert_allclose(printed, torsor.tasks.workspace_acceleration(robot, q, v, "body", tau), atol=1e-12)
    heavier = torsor.papers.altafini_equation_report(robot.with_gravity((0.0, 0.0, -9.81)), q, "body")
    assert not heavier.applies
    assert heavier.gravity_defect == pytest.approx(9.81)
    q, v, tau = torsor.random_state(REDUNDANT, seed=2)
    report = torsor.papers.altafini_equation_report(REDUNDANT.with_gravity((0.0, 0.0, 0.0)), q, "tool")
    assert not report.applies
    assert report.velocity_defect > 1.0
    assert report.submersion_defect > 1.0
    weightless = REDUNDANT.with_gravity((0.0, 0.0, 0.0))
    off = torsor.papers.altafini_workspace_acceleration(weightless, q, v, "tool", tau)
    assert largest(off - torsor.tasks.workspace_acceleration(weightless, q, v, "tool", tau)) > 1.0


@pytest.mark.compiled
def test_a_task_is_an_argument_of_compiled_functions_in_jax_too(jax_in_doubles):
    jnp = jax_in_doubles.numpy
    q, v, _ = torsor.random_state(REDUNDANT, seed=5, batch=(3,))
    task = torsor.stack_tasks(
        torsor.position_task("tool"),
        torsor.function_task(lambda robot, q: torsor.dynamics.centre_of_mass(robot, q)[:2], 2),
    )
    here = torsor.tasks.task_space_dynamics(REDUNDANT, q, v, task)
    there = torsor.tasks.task_space_dynamics(REDUNDANT, jnp.asarray(q), jnp.asarray(v), task)
    with torsor.backend("numpy"):
        plain = torsor.tasks.task_space_dynamics(REDUNDANT, q, v, task)
    for x, y, z in zip(here, there, plain, strict=True):
        assert_close(x, z, 1e-9)
        assert_close(y, z, 1e-9)
    gradient = jax_in_doubles.grad(lambda q: torsor.tasks.manipulability(REDUNDANT, q, task))(jnp.asarray(q[0]))
    assert_close(gradient, torsor.tasks.manipulability_gradient(REDUNDANT, q[0], task), 1e-9)
    kernel = torsor.compile(torsor.tasks.task_space_dynamics, REDUNDANT, task=task)
    assert_close(kernel(q, v)["inertia"], here.inertia, 1e-10)


@pytest.mark.compiled
def test_a_call_with_another_task_is_not_answered_with_the_one_before():
    q = torsor.random_configuration(REDUNDANT, seed=5)
    tasks = [torsor.position_task("tool", "vx"), torsor.position_task("tool", "vy"), torsor.position_task("tool", "vx")]
    apart = [torsor.tasks.manipulability(REDUNDANT, q.copy(), task) for task in tasks]
    for _ in range(2):
        assert [torsor.tasks.manipulability(REDUNDANT, q, task) for task in tasks] == apart
    assert apart[0] == apart[2] != apart[1]
    for task in (tasks[0], torsor.pose_task("tool"), tasks[0]):
        F = np.ones(task.size)
        assert_close(torsor.tasks.task_forces_to_torques(REDUNDANT, q, task, F), task.jacobian(REDUNDANT, q).T @ F)
        with pytest.raises(torsor.ShapeError, match="`forces` must have shape"):  # nor is the kernel of another size
            torsor.tasks.task_forces_to_torques(REDUNDANT, q, task, np.ones(2))
