"""Rigid motions: rotations (`so3`), poses (`se3`), and how twists, wrenches and inertias move between frames."""

from torsor.lie import quaternion as quaternion
from torsor.lie import se3 as se3
from torsor.lie import so3 as so3
from torsor.lie.adjoint import Ad as Ad
from torsor.lie.adjoint import ad as ad
from torsor.lie.adjoint import bracket as bracket
from torsor.lie.adjoint import bracket_dual as bracket_dual
from torsor.lie.adjoint import transform_twist as transform_twist
from torsor.lie.adjoint import transform_twist_inverse as transform_twist_inverse
from torsor.lie.adjoint import transform_wrench as transform_wrench
from torsor.lie.adjoint import transform_wrench_inverse as transform_wrench_inverse
from torsor.lie.inertias import apply_inertia as apply_inertia
from torsor.lie.inertias import inertia_matrix as inertia_matrix
from torsor.lie.inertias import inertia_row as inertia_row
from torsor.lie.inertias import pseudo_inertia as pseudo_inertia
from torsor.lie.inertias import rotational_from_second_moment as rotational_from_second_moment
from torsor.lie.inertias import second_moment as second_moment
from torsor.lie.inertias import transform_inertia as transform_inertia
from torsor.lie.screws import Line as Line
from torsor.lie.screws import line_coordinates as line_coordinates
from torsor.lie.screws import screw as screw
