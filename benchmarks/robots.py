"""The robots that are measured: one description, read by torsor and by the peers."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import torsor

FOLDER = Path(__file__).parents[1] / "tests" / "data" / "robots"


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.urdf"


def is_floating(name: str) -> bool:
    return name.endswith("floating")


def torsor_robot(name: str) -> torsor.Robot:
    """The canonical, mesh-free files: one link per moving joint, a world link (or a free base link) as root."""
    root = ElementTree.parse(path_of(name)).getroot()
    links = {link.get("name"): link for link in root.findall("link")}
    children = {joint.find("child").get("link") for joint in root.findall("joint")}
    (base,) = [link for link in links if link not in children]
    joints = []
    if is_floating(name):
        joints.append(
            torsor.Joint(name="root", kind="free", parent="universe", link=base, inertia=_inertia(links[base]))
        )
    for joint in root.findall("joint"):
        child = joint.find("child").get("link")
        origin = joint.find("origin")
        pose = torsor.pose_from(_numbers(origin, "xyz"), _numbers(origin, "rpy"))
        joints.append(
            torsor.Joint(
                name=joint.get("name"),
                kind=joint.get("type"),
                parent=joint.find("parent").get("link"),
                link=child,
                pose=pose,
                axis=_numbers(joint.find("axis"), "xyz"),
                inertia=_inertia(links[child]),
            )
        )
    return torsor.assemble(joints, name=name, base="universe" if is_floating(name) else base)


def _inertia(link: ElementTree.Element) -> torsor.Inertia:
    part = link.find("inertial")
    tensor = {key: float(value) for key, value in part.find("inertia").attrib.items()}
    rows = [[tensor["i" + "".join(sorted(a + b))] for b in "xyz"] for a in "xyz"]
    return torsor.Inertia(float(part.find("mass").get("value")), _numbers(part.find("origin"), "xyz"), rows)


def _numbers(element: ElementTree.Element, key: str) -> list[float]:
    return [float(word) for word in element.get(key).split()]
