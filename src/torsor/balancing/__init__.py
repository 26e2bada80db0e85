"""Dynamic balancing: mechanisms whose mass matrix is constant, counterweights that make it so, and design by such measures.

Functions
---------
axisymmetric_counterweights  Robot with counterweights whose mass matrix is constant, for axes in space where it can be
balanced_planar_chain        Robot of n bars in a row with joints about z, with constant mass matrix and without gravity …
balanced_spatial_chain       Robot with a first joint about z and n − 1 parallel ones about y, as many arms, with …
design_scan                  Measure of the robots ``make_robot(value)`` over random configurations, for each value
gravity_counterweights       Robot with counterweights that stays where it is left
is_balanced                  Report on whether a robot is dynamically balanced
is_gravity_balanced          Report on whether gravity forces vanish everywhere
least_change_balancing       Robot with counterweights within limits whose mass matrix is as constant as they can make it
planar_centres_of_mass       Centres of mass that make the mass matrix of a planar chain constant
planar_counterweights        Robot with counterweights whose mass matrix is constant, for parallel axes

Classes
-------
BalanceReport, Balancing, Counterweight, DesignScan, GravityReport, GyroscopicTerm, HeldJoint, VaryingEntry
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
