"""Dormand and Prince's pair of orders 5 and 4, with a polynomial of order 4 between the ends of a step [HNW93, table II.5.2]."""

from __future__ import annotations

import numpy as np

from torsor.simulation.embedded_pair import EmbeddedPair

_A = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0],
        [44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0],
    ]
)
_B = np.array([35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84])
_E = np.array([[71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]])  # b − b̂
# Of the polynomial between the ends, as in the code DOPRI5 of the same book's appendix.
_D = np.array(
    [
        [
            -12715105075 / 11282082432,
            0.0,
            87487479700 / 32700410799,
            -10690763975 / 1880347072,
            701980252875 / 199316789632,
            -1453857185 / 822651844,
            69997945 / 29380423,
        ]
    ]
)

DORMAND_PRINCE_54 = EmbeddedPair(
    name="5(4)",
    order=5,
    estimator_order=4,
    c=np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0]),
    A=_A,
    b=_B,
    errors=_E,
    c_extra=np.zeros(0),
    A_extra=np.zeros((0, 7)),
    D=_D,
)
