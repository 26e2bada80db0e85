"""The equations of motion of small robots in closed form, as a textbook prints them."""

from torsor.symbolic.equations import equations as equations
from torsor.symbolic.result import Equations as Equations
