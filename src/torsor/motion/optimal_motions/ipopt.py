"""The same finite problem by IPOPT [WB06], through CasADi: a second opinion by another method.

IPOPT sees five functions of all unknowns: the cost, all limited numbers, their gradients, and the Hessian of the Lagrangian. Each
of them is one call here, for all nodes together. Nodes are added between its runs as they are between steps of our own method.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import needed
from torsor.motion.optimal_motions.between_nodes import passed_between
from torsor.motion.optimal_motions.problem import Model, Point, Problem
from torsor.motion.optimal_motions.sqp import Progress, residuals

ROUNDS = 8  # of nodes that are added
EXACT = {"mu_strategy": "adaptive", "bound_relax_factor": 0.0}  # limits as they are
SUCCESS = ("Solve_Succeeded", "Solved_To_Acceptable_Level")


def casadi_module() -> Any:
    """CasADi, imported when it is first needed."""
    return needed("casadi", "needs CasADi, which brings IPOPT: pip install 'torsor[casadi]'.")


def improve_by_ipopt(problem: Problem, y: Array, iterations: int, tolerance: float, overshoot: float) -> Progress:
    """The optimum near y, as `sqp.improve` gives it."""
    casadi = casadi_module()
    state = Progress(problem, problem.at(y), np.zeros((len(problem.nodes.s), problem.width)))
    try:
        for _ in range(ROUNDS):
            success = run(casadi, state, iterations, tolerance)
            model = state.problem.model(state.point, state.multipliers)
            state.residuals = residuals(state, model)
            state.history.append((state.point.cost, state.point.violation, state.residuals.worst))
            more = passed_between(state.problem, state.point.y, overshoot, apart=0.02) if success else np.zeros(0)
            if not len(more):
                state.converged = success
                break
            state.problem = state.problem.refined(more)
            state.point = state.problem.at(state.point.y)
            state.multipliers = np.zeros((len(state.problem.nodes.s), problem.width))
    except KeyboardInterrupt:
        state.interrupted = True
    return state


def run(casadi: Any, state: Progress, iterations: int, tolerance: float) -> bool:
    """One run with the nodes that there are; whether it succeeded."""
    functions = _Functions(state.problem)
    limited = functions.limited
    lower, upper = (bound.ravel()[limited] for bound in (functions.lower, functions.upper))
    solver = functions.solver(casadi, iterations, tolerance)
    found = solver(x0=state.point.y, lbg=lower, ubg=upper)
    statistics = solver.stats()
    state.iterations += int(statistics["iter_count"])
    state.point = state.problem.at(np.array(found["x"]).ravel())
    multipliers = np.zeros(functions.lower.size)
    multipliers[limited] = np.array(found["lam_g"]).ravel()
    state.multipliers = multipliers.reshape(functions.lower.shape) / state.problem.scale
    state.infeasible = statistics["return_status"] == "Infeasible_Problem_Detected"
    return statistics["return_status"] in SUCCESS


class _Functions:
    """What IPOPT asks for, with the last point and model remembered: it asks for several things at each."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.lower, self.upper = problem.lower / problem.scale, problem.upper / problem.scale
        self.limited = np.flatnonzero(np.isfinite(self.lower.ravel()) | np.isfinite(self.upper.ravel()))
        self._point: Point | None = None

    def at(self, y: Array) -> Point:
        """The problem at y."""
        if self._point is None or not np.array_equal(self._point.y, y):
            self._point = self.problem.at(y)
        return self._point

    def limits(self, y: Array) -> Array:
        """All limited numbers, in units of their scales."""
        return (self.at(y).c / self.problem.scale).ravel()[self.limited]

    def rows(self, y: Array) -> Array:
        """Their gradients."""
        width = self.problem.width
        return self.problem.rows(self.at(y), self.limited // width, self.limited % width)

    def model(self, y: Array, multipliers: Array) -> Model:
        """Derivatives of the cost, and of the Lagrangian with multipliers of the scaled limits."""
        full = np.zeros(self.lower.size)
        full[self.limited] = multipliers
        return self.problem.model(self.at(y), full.reshape(self.lower.shape) / self.problem.scale)

    def hessian(self, y: Array, factor: float, multipliers: Array) -> Array:
        """Of factor · f + Σ λ c."""
        none = np.zeros(len(self.limited))
        whole, cost = self.model(y, multipliers).H, self.model(y, none).H
        return np.asarray(whole + (factor - 1.0) * cost)

    def solver(self, casadi: Any, iterations: int, tolerance: float) -> Any:
        """IPOPT with these functions."""
        n, m = self.problem.count, len(self.limited)
        none = np.zeros(m)

        def flat(x: Any) -> Array:
            return np.array(x, float).ravel()

        dense, upper = casadi.Sparsity.dense, casadi.Sparsity.upper(n)
        one, y, p = dense(1, 1), dense(n, 1), dense(0, 1)
        somewhere = self.problem.at(np.random.default_rng(0).normal(size=n))
        used = np.abs(self.problem.rows(somewhere, *np.divmod(self.limited, self.problem.width))) > 0.0
        slopes = casadi.sparsify(casadi.DM(used.astype(float))).sparsity()
        functions = {
            "f": ([y, p], [one], lambda x, p: [self.at(flat(x)).cost]),
            "g": ([y, p], [dense(m, 1)], lambda x, p: [self.limits(flat(x))]),
            "grad_f": (
                [y, p],
                [one, dense(n, 1)],
                lambda x, p: [self.at(flat(x)).cost, self.model(flat(x), none).gradient],
            ),
            "jac_g": (
                [y, p],
                [dense(m, 1), slopes],
                lambda x, p: [self.limits(flat(x)), casadi.project(casadi.DM(self.rows(flat(x))), slopes)],
            ),
            "hess_lag": (
                [y, p, one, dense(m, 1)],
                [upper],
                lambda x, p, factor, lam: [casadi.triu(casadi.DM(self.hessian(flat(x), float(factor), flat(lam))))],
            ),
        }
        made = {name: _callback(casadi, name, *what) for name, what in functions.items()}
        self._kept = made  # CasADi holds no reference to them
        x = casadi.MX.sym("x", n)
        nothing = casadi.MX.sym("p", 0)
        options = {
            "grad_f": made["grad_f"],
            "jac_g": made["jac_g"],
            "hess_lag": made["hess_lag"],
            "print_time": False,
            "no_nlp_grad": True,
            "calc_lam_p": False,
            "ipopt": {"print_level": 0, "sb": "yes", "tol": tolerance, "max_iter": iterations, **EXACT},
        }
        nlp = {"x": x, "p": nothing, "f": made["f"](x, nothing), "g": made["g"](x, nothing)}
        return casadi.nlpsol("optimal_motion", "ipopt", nlp, options)


def _callback(casadi: Any, name: str, takes: list[Any], gives: list[Any], function: Any) -> Any:
    class Called(casadi.Callback):  # type: ignore[misc]
        """A function of numbers as CasADi calls it."""

        def __init__(self) -> None:
            casadi.Callback.__init__(self)
            self.construct(name, {"enable_fd": False})

        def get_n_in(self) -> int:
            return len(takes)

        def get_n_out(self) -> int:
            return len(gives)

        def get_sparsity_in(self, k: int) -> Any:
            return takes[k]

        def get_sparsity_out(self, k: int) -> Any:
            return gives[k]

        def eval(self, arguments: Any) -> Any:
            return function(*arguments)

    return Called()
