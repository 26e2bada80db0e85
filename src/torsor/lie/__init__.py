"""Rigid motions: rotations (`so3`), poses (`se3`), and how twists, wrenches and inertias move between frames.

What users call: shapes are checked and lists become arrays. Inner code, which knows what it passes, calls `lie.unchecked`.

Functions
---------
Ad                             The 6×6 matrix (R, 0; [p] R, R) of the adjoint map
ad                             The 6×6 matrix ([ω], 0; [v], [ω]) of the bracket
apply_inertia                  G V = (I ω + h × v, m v − h × ω), the momentum of the body moving with twist V
bracket                        [V, W] = ad(V) W = (ω₁ × ω₂, ω₁ × v₂ − ω₂ × v₁)
bracket_dual                   ad(V)ᵀ F = (−ω × m − v × f, −ω × f)
energy_row                     φ with Vᵀ G W = φ · G for every inertia row G: (v₁·v₂, v₁ × ω₂ + v₂ × ω₁, symmetric …
inertia_matrix                 The 6×6 form (I, [h]; −[h], m 1)
inertia_rate                   Ġ = −ad(V)ᵀ G − G ad(V) in ten numbers
inertia_row                    Ten numbers from mass, first moment and rotational inertia about the origin
line_coordinates               Direction e, moment m, pitch h and length of a screw S = |S| (e, m + h e)
mass_flow                      The flow of a body with twist V, whose particles move with ẋ = v + ω × x
pseudo_inertia                 The 4×4 matrix (J, h; hᵀ, m) of (1.2), positive semi-definite for every real body
rotational_from_second_moment  I = tr(J) 1 − J
screw                          S = (a, −a × p + h a)
second_moment                  J = ½ tr(I) 1 − I = ∫ r rᵀ dm, the inertia that goes with Ẇ
transform_inertia              The same body seen from frame a
transform_twist                V_a = Ad(T_ab) V_b = (R ω, p × R ω + R v)
transform_twist_inverse        V_b = Ad(T_ab)⁻¹ V_a = (Rᵀ ω, Rᵀ (v − p × ω)), without forming the inverse pose
transform_wrench               F_b = Ad(T_ab)ᵀ F_a = (Rᵀ (m − p × f), Rᵀ f)
transform_wrench_inverse       F_a = Ad(T_ab)⁻ᵀ F_b = (R m + p × R f, R f), without forming the inverse pose
work_row                       φ with Σ m (v + ω × x)·(L + Ξ x) = φ · G over the particles x of every body G

Classes
-------
Line, MassFlow

Modules
-------
quaternion, se3, so3
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
