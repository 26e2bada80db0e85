"""Reaching targets: inverse kinematics of any frame, batched, within limits."""

from torsor.reaching.result import InverseKinematics as InverseKinematics
from torsor.reaching.solve import inverse_kinematics as inverse_kinematics
