"""Pictures of robots and of their geometry, with matplotlib. Each draws into ``ax=`` (new if None) and returns the Axes, but for
`free_body_diagram`, which returns a `FreeBody`: the Axes, and the forces that were drawn.
"""

from torsor.plot.curvature_map import curvature_map as curvature_map
from torsor.plot.free_body import Load as Load
from torsor.plot.free_body_diagram import FreeBody as FreeBody, free_body_diagram as free_body_diagram
from torsor.plot.inertia_ellipsoids import (
    link_inertia_ellipsoids as link_inertia_ellipsoids,
    mobility_ellipsoid as mobility_ellipsoid,
)
from torsor.plot.link_numbering import link_numbering as link_numbering
from torsor.plot.loop_drift import loop_drift as loop_drift
from torsor.plot.manipulability_ellipsoid import manipulability_ellipsoid as manipulability_ellipsoid
from torsor.plot.mass_matrix_ellipse import mass_matrix_ellipse as mass_matrix_ellipse
from torsor.plot.mechanism import mechanism as mechanism
from torsor.plot.operation_counts import operation_counts as operation_counts
from torsor.plot.paths import paths as paths
from torsor.plot.planar_mechanism import planar_mechanism as planar_mechanism
from torsor.plot.self_motion import self_motion as self_motion
