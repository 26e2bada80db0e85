"""Pictures of robots and of their geometry, with matplotlib. Each draws into ``ax=`` (new if None) and returns the Axes, but for
`free_body_diagram`, which returns a `FreeBody` (the Axes, and the forces that were drawn), and `joints` and `trajectory`, which
return a Figure.

Functions
---------
cost_against_duration     Picture of the costs of optimal motions between the same ends, of several durations; without an …
curvature_map             Picture of the curvature of the metric M(q) over two joints, in 1/(kg·m²), as colours
energies                  Picture of kinetic and potential energy over time, their sum, and the work that changes it
free_body_diagram         Picture of the wrenches on one link of a moving robot, of one state only
joints                    Picture of each joint over time, a panel for each with its unit and limits
link_inertia_ellipsoids   Picture of each link as the solid ellipsoid with its mass and inertia, of one state only
link_numbering            Diagram of links and joints with their numbers, base (link 0) to tips
manipulability_ellipsoid  Picture of the manipulability ellipsoid of a frame's origin, of one state only
mass_matrix_ellipse       Picture of ellipses vᵀ M(q) v = 1 J over two joints, where v moves these two alone
mechanism                 Picture of a robot in space, of one state only
mobility_ellipsoid        Picture of the ellipsoid of J M⁻¹ Jᵀ at a frame's origin, of one state only
operation_counts          Picture of the operations of each formulation over the number of links, log–log
path_drift                Picture of how far joints drift with each round of a closed path, a line for each lift
paths                     Picture of curves q(t) over two joints
phase                     Picture of velocity over position of each joint
phase_plane               Picture of ṡ over s of a motion in least time, with the maximum velocity curve and the limits reached
planar_mechanism          Picture of a planar robot, seen along its joint axes, of one state only
self_motion               Picture of a robot at several configurations of a self-motion, and of the paths of its joints
torque_limits             Picture of joint forces over time as parts of the effort limits, in percent
trajectory                Picture of a motion over time

Classes
-------
FreeBody, Load
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
