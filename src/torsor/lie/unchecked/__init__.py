"""The same functions for callers who know what they pass: no shape is checked, nothing is converted.

One file for each subject; `torsor.arrays.series` is the only home of small-angle code.
"""

from torsor.lie.unchecked import quaternion as quaternion, se3 as se3, so3 as so3
from torsor.lie.unchecked.inertias import (
    MassFlow as MassFlow,
    apply_inertia as apply_inertia,
    energy_row as energy_row,
    inertia_matrix as inertia_matrix,
    inertia_rate as inertia_rate,
    inertia_row as inertia_row,
    mass_flow as mass_flow,
    pseudo_inertia as pseudo_inertia,
    rotational_from_second_moment as rotational_from_second_moment,
    second_moment as second_moment,
    transform_inertia as transform_inertia,
    work_row as work_row,
)
from torsor.lie.unchecked.twists import (
    Ad as Ad,
    Line as Line,
    ad as ad,
    bracket as bracket,
    bracket_dual as bracket_dual,
    line_coordinates as line_coordinates,
    screw as screw,
    transform_twist as transform_twist,
    transform_twist_inverse as transform_twist_inverse,
    transform_wrench as transform_wrench,
    transform_wrench_inverse as transform_wrench_inverse,
)
