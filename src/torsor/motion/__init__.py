"""Motion as geometry: geodesics of the inertia metric, parallel transport, paths of least energy, flat robots."""

from torsor.motion.curvature_along import CurvatureAlong as CurvatureAlong, curvature_along as curvature_along
from torsor.motion.factor_transport import CarriedFactor as CarriedFactor, transport_factor as transport_factor
from torsor.motion.flat_coordinates import (
    FlatCoordinates as FlatCoordinates,
    FlatState as FlatState,
    flat_coordinates as flat_coordinates,
)
from torsor.motion.flatness import (
    CurvatureComponent as CurvatureComponent,
    FlatnessReport as FlatnessReport,
    is_flat as is_flat,
)
from torsor.motion.geodesic import Geodesic as Geodesic, geodesic as geodesic
from torsor.motion.geodesic_between import geodesic_between as geodesic_between
from torsor.motion.minimum_energy_path import PathResult as PathResult, minimum_energy_path as minimum_energy_path
from torsor.motion.parallel_transport import parallel_transport as parallel_transport
from torsor.motion.path_energy import (
    path_energy as path_energy,
    path_energy_gradient as path_energy_gradient,
    path_length as path_length,
)
