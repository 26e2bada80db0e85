from torsor.robots._random_tree import random_tree as random_tree
from torsor.robots.serial_arms import iiwa as iiwa, panda as panda, puma560 as puma560, ur5 as ur5
from torsor.robots.textbook import (
    cart_pole as cart_pole,
    chain as chain,
    pendulum as pendulum,
    planar2r as planar2r,
    planar_chain as planar_chain,
)
