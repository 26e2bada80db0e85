from torsor.errors import SimulationDiverged as SimulationDiverged
from torsor.motion.trajectory import Trajectory as Trajectory
from torsor.simulation._sensitivities import (
    ModeChange as ModeChange,
    Pullback as Pullback,
    Sensitivities as Sensitivities,
    sensitivities as sensitivities,
)
from torsor.simulation._simulate import simulate as simulate
from torsor.simulation.events import Event as Event, Occurrence as Occurrence
from torsor.simulation.jax_rollout import JaxRollout as JaxRollout
from torsor.simulation.stops import Stops as Stops
