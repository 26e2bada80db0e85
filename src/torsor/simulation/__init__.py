"""Motion over time from the equations of motion."""

from torsor.simulation.book import euler_trajectory as euler_trajectory, joint_acceleration as joint_acceleration
from torsor.simulation.simulate import Trajectory as Trajectory, simulate as simulate
