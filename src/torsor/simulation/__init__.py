"""Motion over time from the equations of motion."""

from torsor.simulation._simulate import Trajectory as Trajectory, simulate as simulate
