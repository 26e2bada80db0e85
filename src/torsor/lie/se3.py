"""SE(3), the rigid motions as 4×4 matrices T_ab (pose of frame b seen from a): exp, log, Jacobians, paths.

Twists are (angular, linear); the inner letters of a product cancel, T_ab T_bc = T_ac.
"""

from torsor.border import checked
from torsor.lie.unchecked import se3 as unchecked

pose = checked(unchecked.pose)
rotation = checked(unchecked.rotation)
translation = checked(unchecked.translation)
compose = checked(unchecked.compose)
inverse = checked(unchecked.inverse)
hat = checked(unchecked.hat)
vee = checked(unchecked.vee)
exp = checked(unchecked.exp)
log = checked(unchecked.log)
left_jacobian = checked(unchecked.left_jacobian)
right_jacobian = checked(unchecked.right_jacobian)
left_jacobian_inverse = checked(unchecked.left_jacobian_inverse)
right_jacobian_inverse = checked(unchecked.right_jacobian_inverse)
body_velocity = checked(unchecked.body_velocity)
spatial_velocity = checked(unchecked.spatial_velocity)
