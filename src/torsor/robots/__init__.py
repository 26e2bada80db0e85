"""A small zoo: robots embedded as data, one function each, sources cited in their files."""

from torsor.robots.iiwa import iiwa as iiwa
from torsor.robots.panda import panda as panda
from torsor.robots.puma560 import puma560 as puma560
from torsor.robots.random_tree import random_tree as random_tree
from torsor.robots.textbook import (
    cart_pole as cart_pole,
    chain as chain,
    pendulum as pendulum,
    planar2r as planar2r,
    planar_chain as planar_chain,
)
from torsor.robots.ur5 import ur5 as ur5
