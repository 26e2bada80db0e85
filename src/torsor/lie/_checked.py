"""The actions of `lie.unchecked` as users call them: shapes are checked and lists become arrays."""

from torsor.border import checked
from torsor.lie import unchecked

Ad = checked(unchecked.Ad)
ad = checked(unchecked.ad)
bracket = checked(unchecked.bracket)
bracket_dual = checked(unchecked.bracket_dual)
transform_twist = checked(unchecked.transform_twist)
transform_twist_inverse = checked(unchecked.transform_twist_inverse)
transform_wrench = checked(unchecked.transform_wrench)
transform_wrench_inverse = checked(unchecked.transform_wrench_inverse)
apply_inertia = checked(unchecked.apply_inertia)
energy_row = checked(unchecked.energy_row)
inertia_matrix = checked(unchecked.inertia_matrix)
inertia_rate = checked(unchecked.inertia_rate)
inertia_row = checked(unchecked.inertia_row)
mass_flow = checked(unchecked.mass_flow)
pseudo_inertia = checked(unchecked.pseudo_inertia)
rotational_from_second_moment = checked(unchecked.rotational_from_second_moment)
second_moment = checked(unchecked.second_moment)
transform_inertia = checked(unchecked.transform_inertia)
work_row = checked(unchecked.work_row)
line_coordinates = checked(unchecked.line_coordinates)
screw = checked(unchecked.screw)
