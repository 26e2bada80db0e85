from torsor.symbolic._equations import equations as equations
from torsor.symbolic.result import Equations as Equations
