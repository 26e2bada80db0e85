from torsor.robots._random_tree import random_tree as random_tree
from torsor.robots.zoo import (
    cart_pole as cart_pole,
    chain as chain,
    iiwa as iiwa,
    panda as panda,
    pendulum as pendulum,
    planar2r as planar2r,
    planar_chain as planar_chain,
    puma560 as puma560,
    ur5 as ur5,
)
