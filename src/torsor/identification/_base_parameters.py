"""Base parameters: the smallest set of combinations of inertial parameters that joint forces depend on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Annotated

import numpy as np

from torsor._html import block, folded, heading, items, number, plain, table as html_table
from torsor._once import once
from torsor._reports import Report
from torsor.arrays import as_numbers, constant, take
from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.border.numbers import refuse_no_robot
from torsor.errors import ArgumentError, ModelError, ModelWarning, ShapeError
from torsor.functions.dispatch import public
from torsor.identification.groupings import Grouping, changed_lengths, groupings, symbols
from torsor.identification.reasons import Unidentifiable, table, unidentifiable
from torsor.identification.row_spaces import (
    Gap,
    Regrouping,
    RowSpace,
    length_unit,
    numerical_row_space,
    regrouped,
    scales,
    structural_row_space,
)
from torsor.mechanics.regressors.torque_regressors import torque_regressor
from torsor.model import Robot, inertial_parameter_names, inertial_parameters

METHODS = ("structural", "numerical")
CLEAR = 1e3  # between what counts and what does not: less is worth a warning
JUST_ABOVE, JUST_BELOW = 10.0, 0.5  # times the tolerance: if a value between decides how many there are, so is that
VISIBLE = 1e-9  # more than rounding: what was taken for zero is then said
TOLERANCE = 1e-5  # files print π/2 as 1.5708, and axes meant to be parallel are so to 4e-6


@dataclass(frozen=True, eq=False, repr=False)
class BaseParameters(Report):
    """The base parameters β = matrix π of a robot, π its `torsor.identification.inertial_parameters`; printed, a table of them.

    ``columns`` (count,) are the columns of `torsor.identification.torque_regressor` that are kept, one for each base
    parameter, and ``matrix`` (count, 10 n), kg, m, has the unit matrix there. ``method`` says how they were found, "structural"
    or "numerical", and ``gap`` how clearly what counts was told from what does not. ``tolerance`` is where the line was drawn:
    ``gap.dropped`` is the largest value below it that was taken for zero, and Y_b β the forces of π up to that much.
    """

    robot: Robot
    columns: Array
    matrix: Array
    method: str
    gap: Gap
    tolerance: float

    @property
    def count(self) -> int:
        """Number of base parameters."""
        return len(self.columns)

    @property
    def structural(self) -> bool:
        """Whether they were derived from the structure of the robot, and not from a rank over random states."""
        return self.method == "structural"

    @once
    def names(self) -> tuple[str, ...]:
        """The parameter that each is named after, "link_3 Izz": the one whose column is kept."""
        all_names = inertial_parameter_names(self.robot)
        return tuple(all_names[k] for k in self.columns)

    @once
    def symbols(self) -> tuple[str, ...]:
        """The same in short, "Izz_3"; links are counted from 1."""
        all_symbols = symbols(self.robot.n)
        return tuple(all_symbols[k] for k in self.columns)

    @once
    def groupings(self) -> tuple[Grouping, ...]:
        """What each is the sum of: "Izz_2 + Iyy_3 + x_3² m_3", with x_3 m the place of link 3's home on its parent."""
        probe = regrouped(_row_space(changed_lengths(self.robot), self.method, self.tolerance))
        return groupings(self.robot, self._regrouping, probe, self._negligible)

    @once
    def unidentifiable(self) -> tuple[Unidentifiable, ...]:
        """The parameters that joint forces do not tell, each with the reason."""
        return unidentifiable(self.robot, self._regrouping, self.groupings, self._negligible, self.tolerance)

    @property
    def values(self) -> Array:
        """β (count,) of this robot, kg, kg·m, kg·m²."""
        return self.matrix @ inertial_parameters(self.robot)

    def regressor(self, q: ConfigurationVector, v: JointVector, a: JointVector, *, out: Array | None = None) -> Array:
        """Regressor Y_b(q, v, a) with Y_b β = M a + C v + g: the kept columns of `torsor.identification.torque_regressor`.

        Parameters
        ----------
        q : (..., nq) array
            Configuration, rad or m.
        v : (..., nv) array
            Velocity, rad/s or m/s.
        a : (..., nv) array
            Acceleration, rad/s² or m/s².
        out : (..., nv, count) array, optional
            Filled and returned, if given.

        Returns
        -------
        (..., nv, count) array
            In N·m or N per unit of β.
        """
        return reduced_regressor(self.robot, q, v, a, self._kept, out=out)  # type: ignore[call-arg]

    def parameters_for(self, beta: Array) -> Array:
        """Inertial parameters π with matrix π = ``beta`` that are nearest to the robot's own.

        Nearest by the sum of squares of all changes, lengths in units of the mean distance between link frames. They need not
        belong to real bodies: `robot.inertia(link).violations()` tells. ``robot.with_inertial_parameters`` takes them.

        Parameters
        ----------
        beta : (..., count) array
            Base parameters, kg, kg·m, kg·m².

        Returns
        -------
        (..., 10 n) array
            In kg, kg·m, kg·m².
        """
        try:
            beta = as_numbers(beta)
        except (TypeError, ValueError) as error:
            raise ShapeError(f"parameters_for: `beta` must be real numbers, got {beta!r:.60}.") from error
        if beta.shape[-1:] != (self.count,):
            raise ShapeError(
                f"parameters_for: `beta` must have shape (..., {self.count}), one for each base parameter of robot "
                f"{self.robot.name!r}, got {tuple(beta.shape)}."
            )
        return inertial_parameters(self.robot) + (beta - self.values) @ self._lift.T

    @once
    def _kept(self) -> str:
        return " ".join(map(str, self.columns))

    @property
    def _regrouping(self) -> Regrouping:
        return Regrouping(self.columns, self.matrix)

    @property
    def _negligible(self) -> float:
        """Coefficients, in the robot's units, that are not shown: rounding, or what comes of values taken for zero."""
        return self.tolerance if self.gap.dropped > VISIBLE else VISIBLE

    @once
    def _lift(self) -> Array:
        """The right inverse (10 n, count) of the matrix that changes parameters least."""
        per = scales(self.robot.n, length_unit(self.robot))
        return np.linalg.pinv(self.matrix / per) / per[:, None]

    def __repr__(self) -> str:
        return (
            f"<BaseParameters of robot {self.robot.name!r}: {self.count} of {self.robot.n_inertial_parameters} "
            f"inertial parameters, {self.method}>"
        )

    def __str__(self) -> str:
        return table(self.robot, self.symbols, self._shown_values, self.groupings, self.unidentifiable, self._heading)

    def _repr_html_(self) -> str:
        """The heading, a table, and the parameters that cannot be told, for notebooks."""
        values = zip(self.symbols, self.names, self._shown_values, self.groupings, strict=True)
        rows = [
            [plain(symbol), plain(name), plain(grouping, 160), number(float(value))]
            for symbol, name, value, grouping in values
        ]
        fold = f"{self.count} base parameters"
        unknown = folded(
            f"{len(self.unidentifiable)} parameters that joint forces do not determine by themselves",
            items(list(map(str, self.unidentifiable))),
        )
        title = heading("BaseParameters", [self._heading])
        return block(title, html_table(["", "named after", "sum of", "value (SI)"], rows, left=3, fold=fold), unknown)

    @property
    def _shown_values(self) -> Array:
        """The values, with zero for what is left by rounding where parameters cancel."""
        rounding = 1e-14 * np.abs(self.matrix) @ np.abs(inertial_parameters(self.robot))
        return np.where(np.abs(self.values) > rounding, self.values, 0.0)

    @property
    def _heading(self) -> str:
        """How many there are and how that was found, in a sentence."""
        gap = self.gap
        how = "from the structure of the robot, exactly"
        if not self.structural:
            how = (
                "from the rank of the regressor at random states (singular values fall from "
                f"{gap.kept:.1g} to {gap.dropped:.1g} of the largest)"
            )
        elif gap.dropped > VISIBLE:
            how = (
                "from the structure of the robot, where angles (rad) and lengths (in units of the mean distance between link "
                f"frames) of up to {gap.dropped:.1g} were taken for zero"
            )
        text = f"{self.count} base parameters stand for the {self.robot.n_inertial_parameters} inertial parameters of robot"
        return f"{text} {self.robot.name!r}; found {how}."


@explained
def base_parameters(
    robot: Robot,
    *,
    method: str | None = None,
    tolerance: float = TOLERANCE,
    seed: int | np.random.Generator = 0,
) -> BaseParameters:
    """Base parameters of a robot: the fewest combinations β of its inertial parameters that its motion depends on.

    Also called minimal, or identifiable, inertial parameters. M a + C v + g = Y π for π the
    `torsor.identification.inertial_parameters`, but columns of Y are zero or depend on others: β = matrix π with the
    independent columns Y_b has Y_b β = Y π, and no smaller set has [GK90; MYO90]. Armature, friction and springs, which are
    joints', are not among π.

    The parameters after which base parameters are named, whose columns are kept, are the first independent ones from the
    base outwards, in each link moments of inertia before first moments before mass: what a joint cannot tell apart joins
    the link before it, as in the textbooks, and most masses go.

    Parameters
    ----------
    robot : Robot
    method : str, optional
        "structural" derives them from the tree, the joints and their places, with no state at all [WNS17], for all kinds of
        joints; it needs independent coordinates, so robots with mimic joints are refused. "numerical" takes the rank of the
        regressor at random states [Gau91]. By default structural where it can be.
    tolerance : float
        Below it a value counts as zero. Structural: an angle between axes, or axes and gravity, rad, and a distance between
        axes in units of the mean distance between link frames, so that 1.5708 is taken for π/2 and gravity for vertical.
        Numerical: a singular value of the regressor, columns made equally long, relative to the largest; how small an angle
        shows in it depends on the robot. So both give the same where nothing is near the tolerance, and need not elsewhere.
    seed : int or numpy.random.Generator
        For the random states of the numerical method.

    Returns
    -------
    BaseParameters
        Printed, a table. Y_b β = Y π exactly if only zeros were taken for zero, and else up to what was, ``gap.dropped``. A
        `ModelWarning` says if the line was not clear, or if a value near the tolerance decides how many there are.
    """
    if isinstance(seed, np.random.Generator):
        seed = int(seed.integers(2**32))  # the same states, whatever is asked of them
    _check(robot, method, tolerance)
    if method is None:
        method = "numerical" if robot.structure.has_couplings else "structural"
    space = _row_space(robot, method, tolerance, seed)
    _warn_if_unclear(robot, space, method, tolerance, seed)
    columns, matrix = regrouped(space)
    for array in (columns, matrix):
        array.flags.writeable = False
    return BaseParameters(robot, columns, matrix, method, space.gap, tolerance)


def _row_space(robot: Robot, method: str, tolerance: float, seed: int = 0) -> RowSpace:
    if method == "structural":
        return structural_row_space(robot, tolerance)
    return numerical_row_space(robot, tolerance, seed)


def _check(robot: Robot, method: str | None, tolerance: float) -> None:
    refuse_no_robot(robot)
    if method is not None:
        refuse_unknown_word("method", method, METHODS)
    if not isinstance(tolerance, Real) or not 0.0 < tolerance < 1.0:
        raise ArgumentError(f"`tolerance` must be a number between 0 and 1, got {tolerance!r:.60}.")
    if not robot.is_concrete:
        raise ArgumentError(
            f"robot {robot.name!r} holds traced parameters, but the base parameters are a matter of its "
            "numbers; find them outside of the traced function."
        )
    if method == "structural" and robot.structure.has_couplings:
        s = robot.structure
        followers = [name for i, name in enumerate(s.joints) if s.coordinate_of(i).name != name]
        raise ModelError(
            f"joints {', '.join(map(repr, followers))} of robot {robot.name!r} follow others (mimic), and the "
            'structural method needs independent coordinates; use method="numerical".'
        )


def _warn_if_unclear(robot: Robot, space: RowSpace, method: str, tolerance: float, seed: int) -> None:
    kept, dropped = space.gap
    for value, further in _close_values(kept, dropped, tolerance):
        other = len(_row_space(robot, method, further, seed).rows)
        if other != len(space.rows):
            _warn(
                f"base_parameters: robot {robot.name!r} has a value at {value / tolerance:.3g} times the tolerance "
                f"{tolerance:.1g}, and it decides between {len(space.rows)} base parameters, which were taken, and {other}: "
                f"pass tolerance={further:.1g} for those, if it is meant to be {'zero' if value > tolerance else 'there'}. "
                "Axes that are almost, but not quite, parallel, intersecting or vertical do this."
            )
            return
    if space.gap.ratio < CLEAR:
        _warn(
            f"base_parameters: robot {robot.name!r} has directions of parameters with {kept:.1g} and with {dropped:.1g} of a "
            f"full effect; the first were counted, the second not (tolerance {tolerance:.1g}), and that is a close decision. "
            "Axes that are almost, but not quite, parallel or intersecting do this."
        )


def _close_values(kept: float, dropped: float, tolerance: float) -> list[tuple[float, float]]:
    """Values near the tolerance, each with a tolerance that is on the other side of it."""
    found = []
    if kept < JUST_ABOVE * tolerance:
        found.append((kept, min(2.0 * kept, 0.5)))
    if dropped > JUST_BELOW * tolerance:
        found.append((dropped, 0.5 * dropped))
    return found


def _warn(text: str) -> None:
    warnings.warn(text, ModelWarning, stacklevel=5)


# The regressor of base parameters: some columns of the torque regressor, and no work for the others.

Columns = Annotated[Array, "... nv count"]


def regressor(robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, columns: str) -> Columns:
    """Columns of `torsor.identification.torque_regressor`, (..., nv, count), N·m or N per kg, kg·m and kg·m².

    ``columns`` are their numbers as text, "9 11 12": what a kernel is made for is known by names. The others are not computed.
    """
    return take(torque_regressor(robot, q, v, a), constant([int(k) for k in columns.split()]))


reduced_regressor = public(regressor, "Y", registered=False)
