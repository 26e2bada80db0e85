"""Identification: which inertial parameters joint forces tell, and in which combinations."""

from torsor.identification.base_parameters import BaseParameters as BaseParameters, base_parameters as base_parameters
from torsor.identification.groupings import Grouping as Grouping
from torsor.identification.lengths import Length as Length
from torsor.identification.reasons import Unidentifiable as Unidentifiable
from torsor.identification.subspaces import Gap as Gap
