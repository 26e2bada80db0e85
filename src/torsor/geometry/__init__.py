"""The inertia metric as Riemannian geometry: derivatives of the mass matrix, Christoffel symbols, curvature."""
