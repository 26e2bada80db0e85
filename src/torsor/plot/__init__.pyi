from torsor.plot._cost_against_duration import cost_against_duration as cost_against_duration
from torsor.plot._energies import energies as energies
from torsor.plot._free_body_diagram import FreeBody as FreeBody, Load as Load, free_body_diagram as free_body_diagram
from torsor.plot._joints import joints as joints
from torsor.plot._link_numbering import link_numbering as link_numbering
from torsor.plot._mechanism import mechanism as mechanism
from torsor.plot._operation_counts import operation_counts as operation_counts
from torsor.plot._phase import phase as phase
from torsor.plot._phase_plane import phase_plane as phase_plane
from torsor.plot._planar_mechanism import planar_mechanism as planar_mechanism
from torsor.plot._torque_limits import torque_limits as torque_limits
from torsor.plot._trajectory import trajectory as trajectory
from torsor.plot.ellipsoids import (
    link_inertia_ellipsoids as link_inertia_ellipsoids,
    manipulability_ellipsoid as manipulability_ellipsoid,
    mass_matrix_ellipse as mass_matrix_ellipse,
    mobility_ellipsoid as mobility_ellipsoid,
)
from torsor.plot.joint_maps import curvature_map as curvature_map, paths as paths
from torsor.plot.redundancy import path_drift as path_drift, self_motion as self_motion
