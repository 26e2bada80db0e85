from torsor.plot._curvature_map import curvature_map as curvature_map
from torsor.plot._free_body_diagram import FreeBody as FreeBody, free_body_diagram as free_body_diagram
from torsor.plot._link_numbering import link_numbering as link_numbering
from torsor.plot._manipulability_ellipsoid import manipulability_ellipsoid as manipulability_ellipsoid
from torsor.plot._mass_matrix_ellipse import mass_matrix_ellipse as mass_matrix_ellipse
from torsor.plot._mechanism import mechanism as mechanism
from torsor.plot._operation_counts import operation_counts as operation_counts
from torsor.plot._path_drift import path_drift as path_drift
from torsor.plot._paths import paths as paths
from torsor.plot._planar_mechanism import planar_mechanism as planar_mechanism
from torsor.plot._self_motion import self_motion as self_motion
from torsor.plot.free_body import Load as Load
from torsor.plot.inertia_ellipsoids import (
    link_inertia_ellipsoids as link_inertia_ellipsoids,
    mobility_ellipsoid as mobility_ellipsoid,
)
