"""A small zoo: robots embedded as data, one function each, sources cited in their files.

Functions
---------
cart_pole     A cart that slides along x, and a pole about z with a point mass; gravity along −y, q2 = 0 …
chain         Links in a row, cylinders along z with revolute joints about z, y, z, y, …; gravity along −z
iiwa          KUKA LBR iiwa 14 R820: 7 revolute joints
panda         Franka Emika Panda with its hand, fingers closed: 7 revolute joints, 16.8 kg moving
pendulum      A point mass on a rod that turns about z, with gravity along −y; q = 0 points along x
planar2r      The book's planar 2R chain
planar_chain  Links along x with point masses at their ends, revolute joints about z, gravity along −y
puma560       Unimation Puma 560: 6 revolute joints, with motor inertias as armature
random_tree   A robot with random tree, joints, inertias and gravity, the same for one seed
ur5           Universal Robots UR5: 6 revolute joints, 17 kg moving
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
