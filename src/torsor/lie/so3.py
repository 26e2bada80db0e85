"""SO(3), the rotations: exp, log, their Jacobians, and angular velocity as a vector or as a matrix rate."""

from torsor.border import checked
from torsor.lie.unchecked import so3 as unchecked

hat = checked(unchecked.hat)
vee = checked(unchecked.vee)
exp = checked(unchecked.exp)
log = checked(unchecked.log)
left_jacobian = checked(unchecked.left_jacobian)
right_jacobian = checked(unchecked.right_jacobian)
left_jacobian_inverse = checked(unchecked.left_jacobian_inverse)
right_jacobian_inverse = checked(unchecked.right_jacobian_inverse)
rotation_rate = checked(unchecked.rotation_rate)
angular_velocity = checked(unchecked.angular_velocity)
rotation_about = checked(unchecked.rotation_about)
