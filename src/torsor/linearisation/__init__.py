"""Linear equations near a motion, in continuous time and from step to step."""

from torsor.linearisation._linearise import StateSpace as StateSpace, linearise as linearise
