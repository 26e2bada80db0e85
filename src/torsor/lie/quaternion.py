"""Quaternions (x, y, z, w) for the configuration of spherical and free joints. Everything else uses matrices."""

from torsor.border import checked
from torsor.lie.unchecked import quaternion as unchecked

to_rotation = checked(unchecked.to_rotation)
from_rotation = checked(unchecked.from_rotation)
product = checked(unchecked.product)
conjugate = checked(unchecked.conjugate)
exp = checked(unchecked.exp)
log = checked(unchecked.log)
