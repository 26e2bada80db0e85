"""How a block runs: where its arguments are, which rows go abreast, and where what it makes lies.

A block (`graph.Product`, `graph.Calls`) is a loop over slots of a scratch area. Its arguments lie together, in the order in which
it takes them: a piece of the program stores a number there as soon as it is computed. Where they are a stride apart from row to
row anyway, they are read where they are; those that are constants in every row are a table of the module. Only where a number is
another block's, or an argument of very many rows, is it picked by a table of slots. What a row leaves for the next is not copied.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torsor.compiler.graph import Block, Graph

if TYPE_CHECKING:
    from torsor.compiler.print.plan import Plan


@dataclass(eq=False)
class BlockStep:
    """A block, and how it runs in so many lanes.

    ``first``: the first slot of what it makes, of which some is ``needed``. ``own``: the first slot of its arguments where they
    have slots of their own, of which some are ``filled`` with constants and some ``copied`` from other slots; else ``sources``
    are the slots that they are picked from. ``inner``: how a program called runs: in as many lanes, or for one state with several
    rows ``abreast``. ``fixed``: those inputs of it that are constants in every row. ``stride``, if there is one: from row to row,
    its other arguments are so many slots apart, and are read where they are, those of the first row in the slots ``at``.
    ``terms``: for each block of columns of a product, the rows of the second matrix that are not all zero.
    """

    block: Block
    args: tuple[int, ...]
    first: int
    needed: set[int]
    inner: Plan | None
    abreast: int
    terms: list[list[int]]
    fixed: tuple[int, ...] = ()
    stride: int | None = None
    at: tuple[int, ...] = ()
    own: int | None = None
    sources: list[int] = field(default_factory=list)
    copied: list[tuple[int, int]] = field(default_factory=list)
    filled: list[tuple[int, float]] = field(default_factory=list)

    @property
    def turns(self) -> int:
        """How often a program is called, each time for rows that go abreast."""
        return -(-self.block.times // self.abreast)

    @property
    def taken(self) -> int:
        """Numbers from the arguments of one turn to those of the next; those for the first row alone come before."""
        return self.abreast * self.block.taken

    @property
    def given(self) -> int:
        """Numbers from the results of one turn to those of the next."""
        return self.abreast * self.block.size // self.block.times

    def place_of_argument(self, k: int) -> int:
        """Where argument k is, behind the first one."""
        own = k - self.block.carried
        return k if own < 0 else self.block.carried + self._in_turn(*divmod(own, self.block.taken), self.taken)

    def place_of_result(self, k: int) -> int:
        """Where number k of what it makes is, behind the first one."""
        return self._in_turn(*divmod(k, self.given // self.abreast), self.given)

    def _in_turn(self, row: int, number: int, size: int) -> int:
        turn, lane = divmod(row, self.abreast)
        return turn * size + number * self.abreast + lane

    def picked(self) -> list[int]:
        """The slots that arguments are picked from, as they are taken: what is carried first, then turn by turn."""
        if self.abreast == 1:
            return self.sources
        found = [0] * (self.turns * self.taken)
        for k, slot in enumerate(self.sources):
            found[self.place_of_argument(k)] = slot
        for one, other in self.spare():
            found[other] = found[one]
        return found

    def constants(self, graph: Graph) -> list[float]:
        """Those of ``fixed``, turn by turn, and in each input by input."""
        taken, last = self.block.taken, self.block.times - 1
        return [
            graph.values[self.args[min(row, last) * taken + number]]
            for turn in range(self.turns)
            for number in self.fixed
            for row in range(turn * self.abreast, (turn + 1) * self.abreast)
        ]

    def is_fixed(self, k: int) -> bool:
        """Whether argument k is one of those."""
        own = k - self.block.carried
        return own >= 0 and self.block.carried + own % self.block.taken in self.fixed

    def spare(self) -> list[tuple[int, int]]:
        """Places of the last row's arguments, and those in the last turn that have no row: they take the same."""
        last, taken = self.block.times - 1, range(self.block.taken)
        rows = range(self.block.times, self.turns * self.abreast)
        return [(self._in_turn(last, k, self.taken), self._in_turn(row, k, self.taken)) for row in rows for k in taken]
