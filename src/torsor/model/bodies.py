"""Links as bodies: where a body is needed, what is none is refused by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torsor.errors import ArgumentTypeError, ModelError
from torsor.model.inertia import Inertia

if TYPE_CHECKING:
    from torsor.model.robot import Robot


def refuse_unphysical(where: str, robot: Robot) -> None:
    """Raise, naming the link, if some link has numbers that are no mass, centre and rotational inertia of anything."""
    rows = (*robot.parameters.inertias, robot.parameters.base_inertia)
    for link, row in zip((*robot.links, robot.structure.base), rows, strict=True):
        if (body := Inertia.unchecked(row)).numbers is not None:
            wrong = "; ".join(body.violations())
            raise ModelError(
                f"{where}: robot {robot.name!r}: link {link!r} has an inertia that no body has: {wrong}. "
                f"Give it another: robot.with_inertia({link!r}, torsor.Inertia(mass, com, rotational))."
            )


def refuse_no_inertia(where: str, inertia: object) -> None:
    """Raise unless this is an `Inertia`: a mass alone, say, with what to write instead."""
    if isinstance(inertia, Inertia):
        return
    a_mass = f"torsor.Inertia.point({inertia!r})" if isinstance(inertia, (int, float)) else "torsor.Inertia.point(1.5)"
    raise ArgumentTypeError(
        f"{where}: `inertia` must be a torsor.Inertia, got {type(inertia).__name__} {inertia!r:.60}. A mass alone is {a_mass}, a "
        "body with moments of inertia torsor.Inertia.box((0.1, 0.1, 0.2), mass=1.5), say."
    )
