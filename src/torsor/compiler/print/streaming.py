"""Long results of many states go past the cache: lines that are written whole need not be read before.

A group of states writes such results to scratch. While the next results are written, to another place there, they are streamed
to where they belong, some lines at a time, so that memory works beside the processor.
"""

from __future__ import annotations

from collections.abc import Iterator

from torsor.compiler.print.lane_groups import LINE, LONG, ports_of
from torsor.compiler.print.packing import Loop
from torsor.compiler.print.printer import Printer

FAR = 1 << 24  # bytes of results that do not stay in a cache, even where several processors share it
MOST = 1 << 15  # numbers of a group that wait, at most


class Streaming:
    """Those results of a program that are streamed, where all of them are more than `FAR` bytes.

    They wait in scratch behind ``first`` numbers: those of one port in one of two places there, those of the next in the other.
    """

    def __init__(self, p: Printer, first: int) -> None:
        self.p, self.first, self.size = p, first, 8 if p.element == "double" else 4
        of_group = {k: p.lanes * port.size for k, port in enumerate(ports_of(p.program))}
        outputs = list(of_group)[len(p.program.graph.inputs) :]
        self.numbers = {k: of_group[k] for k in outputs if p.lanes * LONG <= of_group[k] <= MOST}
        self.ports = list(self.numbers)
        self.room = 2 * max(self.numbers.values(), default=0)

    def is_far(self) -> Iterator[str]:
        """``%is_far``: whether results are streamed, of whole groups."""
        total = "0"
        for k in self.ports:
            yield f"  %long_to{k} = add i64 {total}, %bytes{k}"
            total = f"%long_to{k}"
        yield f"  %is_long = icmp ugt i64 {total}, {FAR}"
        yield "  %is_far = and i1 %is_long, %has_enough"

    def rows(self, k: int, rows: list[str]) -> list[str]:
        """Where the lanes write their results of port k, which belong to ``rows``."""
        p, place, each = self.p, self._place(k, "%done"), self.numbers[k] // self.p.lanes
        near = [p.line(f"getelementptr {p.element}, ptr {place}, i64 {lane * each}") for lane in range(p.lanes)]
        return [p.line(f"select i1 %is_far, ptr {x}, ptr {y}") for x, y in zip(near, rows, strict=True)]

    def begin(self, k: int) -> None:
        """Before results of port k are written: what is streamed meanwhile, of the port before or of the last one before.

        What is there before and after whole lines is copied at once.
        """
        p, is_first = self.p, k == self.ports[0]
        other = self.ports[self.ports.index(k) - 1]
        to, source = self._waiting(other, "%first_before" if is_first else "%first_state", is_first)
        self.go = p.line(f"and i1 %is_far, {p.line('icmp ne i64 %done, 0')}") if is_first else "%is_far"
        self._if_going([f"  call void @stream(ptr {to}, ptr {source}, i64 {self.numbers[other]}, i64 0)"])
        address = p.line(f"ptrtoint ptr {to} to i64")
        odd = p.line(f"and i64 {p.line(f'sub i64 0, {address}')}, {LINE - 1}")
        bytes_left = p.line(f"sub i64 {self.numbers[other] * self.size}, {odd}")
        self.whole = p.line(f"udiv i64 {bytes_left}, {LINE}")
        self.to, self.source = (p.line(f"getelementptr i8, ptr {x}, i64 {odd}") for x in (to, source))
        self.lines = self.numbers[other] * self.size // LINE  # at most

    def some(self, part: str, parts: int) -> None:
        """Stream one of some parts of the whole lines that wait; the last part overlaps the one before."""
        p, before, each = self.p, self.p.lines, -(-self.lines // parts)
        p.lines, kind = [], f"<{LINE // self.size} x {p.element}>"
        p.declared.add("declare i64 @llvm.umin.i64(i64, i64)")
        first, latest = p.line(f"mul i64 {part}, {each}"), p.line(f"sub i64 {self.whole}, {each}")
        first = p.line(f"call i64 @llvm.umin.i64(i64 {first}, i64 {latest})")
        start, target = (p.line(f"getelementptr {kind}, ptr {x}, i64 {first}") for x in (self.source, self.to))
        for j in range(each):
            here, there = (p.line(f"getelementptr {kind}, ptr {x}, i64 {j}") for x in (start, target))
            value = p.line(f"load {kind}, ptr {here}, align {self.size}")
            p.lines.append(f"  store {kind} {value}, ptr {there}, align {LINE}, !nontemporal !0")
        lines, p.lines = p.lines, before
        self._if_going(lines)

    def end(self) -> Iterator[str]:
        """Stream what the last group has left; whoever is told that the results are there finds them."""
        p, k = self.p, self.ports[-1]
        p.lines, self.go = [], "%is_far"
        to, source = self._waiting(k, "%first_before", True)
        self._if_going([f"  call void @stream(ptr {to}, ptr {source}, i64 {self.numbers[k]}, i64 1)"])
        yield from p.lines
        yield "  fence seq_cst"

    def function(self) -> Iterator[str]:
        """The function that copies numbers to where they belong: before and after whole lines, and these if they are wanted."""
        p, size, wide = self.p, self.size, LINE // self.size
        yield "define internal void @stream(ptr %to, ptr %from, i64 %count, i64 %wanted) {"
        p.lines = ["entry:", "  %address = ptrtoint ptr %to to i64", "  %before = sub i64 0, %address"]
        p.lines += [f"  %odd = and i64 %before, {LINE - 1}", f"  %head = udiv i64 %odd, {size}"]
        p.lines += ["  %rest = sub i64 %count, %head", f"  %whole = udiv i64 %rest, {wide}"]
        p.lines += [f"  %left = urem i64 %rest, {wide}", "  %end = sub i64 %count, %left"]
        p.lines += ["  %lines = mul i64 %whole, %wanted"]
        for start, count, kind, how in (
            ("0", "%head", p.element, f"align {size}"),
            ("%head", "%lines", f"<{wide} x {p.element}>", f"align {LINE}, !nontemporal !0"),
            ("%end", "%left", p.element, f"align {size}"),
        ):
            source, target = (p.line(f"getelementptr {p.element}, ptr {x}, i64 {start}") for x in ("%from", "%to"))
            with Loop(p, count, 1) as k:
                here, there = (p.line(f"getelementptr {kind}, ptr {x}, i64 {k}") for x in (source, target))
                p.lines.append(f"  store {kind} {p.line(f'load {kind}, ptr {here}, align {size}')}, ptr {there}, {how}")
        yield from p.lines
        yield "  ret void"
        yield "}"
        yield "!0 = !{i32 1}"

    def _waiting(self, k: int, state: str, is_before: bool) -> tuple[str, str]:
        """Where results of port k belong, of the group that begins with a state, and where they wait."""
        p = self.p
        there = p.line(f"getelementptr i8, ptr %base{k}, i64 {p.line(f'mul i64 {state}, %stride{k}')}")
        return there, self._place(k, p.line(f"sub i64 %done, {p.lanes}") if is_before else "%done")

    def _place(self, k: int, done: str) -> str:
        """Where results of port k wait, of the group that is computed when so many states are done."""
        p, number = self.p, self.ports.index(k)
        one, other = (str(self.first + self.room // 2 * ((number + k) % 2)) for k in (0, 1))
        if len(self.ports) % 2:  # it is the other place in the next group
            is_even = p.line(f"icmp eq i64 {p.line(f'and i64 {done}, {p.lanes}')}, 0")
            one = p.line(f"select i1 {is_even}, i64 {one}, i64 {other}")
        return p.line(f"getelementptr {p.element}, ptr %scratch, i64 {one}")

    def _if_going(self, lines: list[str]) -> None:
        mark = self.p.line("add i64 0, 0")[1:]  # a name of its own
        self.p.lines += [f"  br i1 {self.go}, label %far_{mark}, label %went_{mark}", f"far_{mark}:", *lines]
        self.p.lines += [f"  br label %went_{mark}", f"went_{mark}:"]
