"""Motion of links and frames: poses, Jacobians, twists, accelerations, and moving along the configuration manifold.

Functions
---------
body_acceleration     V̇_b = J_b a + J̇_b v, the *spatial* acceleration in the frame's own axes
body_jacobian         J_b with V_b = J_b v
body_jacobian_rate    J̇_b
body_twist            V_b of a frame, [V_b] = T⁻¹ Ṫ
configuration_rate    Rate q̇ at which the numbers of q change while the robot moves with velocity v: ṗ = R v …
difference            q1 ⊖ q0
frame_pose            Pose T_0f of a named frame (a link, a tool, "tip", the base) in the base frame
frame_poses           Poses T_0f of all frames, in the order of ``robot.frames``
integrate             q ⊕ v dt
joint_axes            The screw of every degree of freedom where it is now, in base axes
joint_axes_rate       L̇ = ad(T) L
link_form             The product of exponentials of one frame of a robot, in link form
link_poses            Poses T_0i of all moving links in the base frame
mixed_acceleration    (ω̇, p̈) of a frame in base axes, the *classical* acceleration of its origin
mixed_jacobian        J_m with (ω, ṗ) = J_m v in base axes, p the frame's origin
mixed_jacobian_rate   J̇_m
mixed_twist           (ω, ṗ) of a frame in base axes
pose_from             The pose of a translation and of roll, pitch, yaw, R = R_z R_y R_x (fixed axes), as robot …
random_configuration  Random configurations, uniform within the limits
random_state          A random configuration within the limits, and standard normal velocity and acceleration
space_acceleration    V̇_s = J_s a + J̇_s v, the *spatial* acceleration in base axes
space_jacobian        J_s with V_s = J_s v
space_jacobian_rate   J̇_s
space_twist           V_s of a frame, [V_s] = Ṫ T⁻¹
velocity_of_rate      v of a motion in which the numbers of q change at q̇; ω = 2 vec(quat⁻¹ ∘ quat rate)

Classes
-------
BodyForm, LinkForm, LocalForm, SpaceForm
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
