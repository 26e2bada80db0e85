# ruff: noqa: E501 - tables of nonsense
"""Broken robot files without end: real files, changed at random in the ways that files and attackers change them."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import torsor
from torsor import Inertia, Joint, Mimic

NASTY = [
    b"", b"0", b"-0", b"-1", b"nan", b"inf", b"-inf", b"1e999", b"1e-400", b"1e308", b"-1e308", b"0x10", b"1_000", b"1,5", b"one",
    b"1 2", b"1 2 3 4", b" ", b"\t\n", b"9" * 400, b"1" + b"0" * 5000, b"1e", b".", b"--1", b"1e5.5", "−1".encode(), "٣".encode(),
    b"&lt;", b"&#0;", b"&#xD800;", b"&amp;" * 50, b"true", b"null", b"\xff\xfe", b"\x00", b"../../../etc/passwd", b"package://",
    b"file:///etc/passwd", b"$(find x)", b"${1+1}", b"__import__('os')", b"base", b"link_1", b"world", b"a" * 20000,
]  # fmt: skip
WHOLE = [
    b"", b"\x00", b"<", b"<robot", b"<robot/>", b"<robot></robot>", b"<mujoco/>", b"{", b"{}", b"[]", b"null", b"1", b'"x"', b"---",
    b"[" * 50000, b'{"a":' * 20000, b"<a>" * 50000, b"<a " + b'b="c" ' * 5000 + b"/>", b"<robot>" + b"<link/>" * 20000 + b"</robot>",
    b"\xff\xfe<\x00r\x00", b'<?xml version="1.0" encoding="utf-7"?><robot/>', b'<?xml version="1.0" encoding="nope"?><robot/>',
    b'<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><robot name="&b;"/>',
    b'<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot/>', b"&a [*a, *a]", b"a: &a [1]\nb: [*a, *a, *a]", b"!!python/object:os.system [ls]",
    b'{"torsor": 1, "joints": ' + b"9" * 100000 + b"}", b'{"torsor": 1e999}', b'{"torsor": NaN}',
]  # fmt: skip


def seeds() -> list[bytes]:
    """Small good files of every format, so that most of the time goes into the readers."""
    body = Inertia.box((0.1, 0.2, 0.3), mass=1.5, com=(0.1, 0, 0.05))
    joints = [
        Joint(name="one", kind="revolute", link="link_1", axis=(0, 0, 1), inertia=body, lower=-1.0, upper=2.0),
        Joint(
            name="two",
            kind="prismatic",
            parent="link_1",
            link="link_2",
            axis=(1, 0, 0),
            inertia=body,
            viscous_friction=0.1,
        ),
        Joint(
            name="three",
            kind="revolute",
            parent="link_1",
            link="link_3",
            axis=(0, 1, 0),
            inertia=body,
            mimic=Mimic("one", 2.0, 0.1),
        ),
        Joint(
            name="weld",
            kind="fixed",
            parent="link_3",
            link="tool",
            pose=torsor.pose_from((0, 0, 0.1), (0, 1, 0)),
            inertia=body,
        ),
        Joint(name="plane", kind="planar", parent="link_2", link="link_4", inertia=body),
    ]
    robot = torsor.assemble(joints, name="seed")
    texts = [robot.to_urdf(), robot.to_json(), robot.to_yaml(), robot.to_mjcf()]
    urdfs = sorted((Path(__file__).parents[1] / "data" / "robots").glob("*.urdf"))
    texts += [path.read_text() for path in urdfs if path.stem in ("ur5", "chain2", "chain3")]
    return [text.encode() for text in texts]


def inputs(seed: int, good: list[bytes]) -> Iterator[bytes]:
    """Mutated files, for ever; the same for one seed."""
    rng = random.Random(seed)
    while True:
        if rng.random() < 0.02:
            yield rng.choice(WHOLE)
            continue
        content = rng.choice(good)
        for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
            content = rng.choice(MUTATIONS)(rng, content, good)
        yield content


def _value(rng: random.Random, content: bytes, good: list[bytes]) -> bytes:
    """Another attribute value or number."""
    places = list(re.finditer(rb'"[^"]*"|-?\d+\.?\d*(?:e-?\d+)?', content))
    if not places:
        return content
    place = rng.choice(places)
    quote = b'"' if place.group().startswith(b'"') else b""
    return content[: place.start()] + quote + rng.choice(NASTY) + quote + content[place.end() :]


def _tag(rng: random.Random, content: bytes, good: list[bytes]) -> bytes:
    """A line or element twice, elsewhere, or not at all."""
    lines = content.split(b"\n")
    here, there = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(4)
    if how == 0:
        del lines[here]
    elif how == 1:
        lines.insert(there, lines[here])
    elif how == 2:
        lines[here], lines[there] = lines[there], lines[here]
    else:
        lines[here:here] = lines[min(here, there) : max(here, there)][:200]
    return b"\n".join(lines)


def _word(rng: random.Random, content: bytes, good: list[bytes]) -> bytes:
    """A name or key exchanged for another one of the file."""
    words = list(re.finditer(rb"[A-Za-z_]\w*", content))
    if len(words) < 2:
        return content
    one, other = rng.choice(words), rng.choice(words)
    return content[: one.start()] + other.group() + content[one.end() :]


def _bytes(rng: random.Random, content: bytes, good: list[bytes]) -> bytes:
    """A byte changed, a stretch lost or repeated."""
    if not content:
        return content
    here = rng.randrange(len(content))
    how = rng.randrange(4)
    if how == 0:
        return content[:here] + bytes([rng.randrange(256)]) + content[here + 1 :]
    if how == 1:
        return content[:here] + content[here + rng.randrange(1, 40) :]
    if how == 2:
        return content[:here] + content[here : here + 40] * rng.randrange(2, 6) + content[here:]
    return content[:here]


def _spliced(rng: random.Random, content: bytes, good: list[bytes]) -> bytes:
    """The beginning of one file and the end of another."""
    other = rng.choice(good)
    return content[: rng.randrange(len(content) + 1)] + other[rng.randrange(len(other)) :]


MUTATIONS = [_value, _value, _value, _tag, _tag, _word, _word, _bytes, _spliced]
