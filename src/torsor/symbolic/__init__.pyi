from torsor.symbolic._equations import Equations as Equations, equations as equations
