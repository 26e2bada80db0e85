from torsor.motion._flat_coordinates import (
    FlatCoordinates as FlatCoordinates,
    FlatState as FlatState,
    flat_coordinates as flat_coordinates,
)
from torsor.motion._geodesic import Geodesic as Geodesic, geodesic as geodesic
from torsor.motion._geodesic_between import geodesic_between as geodesic_between
from torsor.motion._minimum_energy_path import PathResult as PathResult, minimum_energy_path as minimum_energy_path
from torsor.motion._parallel_transport import parallel_transport as parallel_transport
from torsor.motion._path_energy import (
    path_energy as path_energy,
    path_energy_gradient as path_energy_gradient,
    path_length as path_length,
)
from torsor.motion.curvature import (
    CurvatureAlong as CurvatureAlong,
    CurvatureComponent as CurvatureComponent,
    FlatnessReport as FlatnessReport,
    curvature_along as curvature_along,
    is_flat as is_flat,
)
from torsor.motion.factor_transport import CarriedFactor as CarriedFactor, transport_factor as transport_factor
