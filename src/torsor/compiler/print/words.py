"""A small language for machine code that handles objects in memory: functions over 64-bit words, printed as LLVM IR.

Addresses, counts and bits are words alike. Python writes the code down as it runs once: operators and calls add
instructions, ``with f.when(test):`` and ``with f.loop(n) as k:`` enclose what is under a condition or repeated, and a
`Variable` is what changes. Variables become registers when LLVM's passes run (`optimised` of a `Module`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count


class Word:
    """A value of 64 bits, or (``kind`` "i1") a truth value, of a function that is being written."""

    def __init__(self, function: Function, text: str, kind: str = "i64") -> None:
        self.function, self.text, self.kind = function, text, kind

    def _with(self, operation: str, other: Word | int, kind: str | None = None) -> Word:
        return self.function.value(f"{operation} {self.kind} {self.text}, {_text(other)}", kind or self.kind)

    def __add__(self, other: Word | int) -> Word:
        return self._with("add", other)

    def __sub__(self, other: Word | int) -> Word:
        return self._with("sub", other)

    def __mul__(self, other: Word | int) -> Word:
        return self._with("mul", other)

    def __rshift__(self, other: Word | int) -> Word:
        return self._with("lshr", other)

    def __and__(self, other: Word | int) -> Word:
        return self._with("and", other)

    def __or__(self, other: Word | int) -> Word:
        return self._with("or", other)

    def divided(self, other: Word | int) -> Word:
        """The whole part of the quotient."""
        return self._with("udiv", other)

    def __eq__(self, other: Word | int) -> Word:  # type: ignore[override]
        return self._with("icmp eq", other, "i1")

    def __ne__(self, other: Word | int) -> Word:  # type: ignore[override]
        return self._with("icmp ne", other, "i1")

    def __lt__(self, other: Word | int) -> Word:
        return self._with("icmp ult", other, "i1")

    def __gt__(self, other: Word | int) -> Word:
        return self._with("icmp ugt", other, "i1")

    def is_negative(self) -> Word:
        """Whether it is, as a signed number."""
        return self._with("icmp slt", 0, "i1")

    __hash__ = None  # type: ignore[assignment]


class Variable:
    """A word that changes."""

    def __init__(self, function: Function, name: str) -> None:
        self._function, self._name = function, name

    def get(self) -> Word:
        """Give the value that it has now."""
        return self._function.value(f"load i64, ptr {self._name}")

    def set(self, value: Word | int) -> None:
        """Give it a value."""
        self._function.line(f"store i64 {_text(value)}, ptr {self._name}")


class Function:
    """A function of words, which gives one: written down instruction by instruction."""

    def __init__(self, name: str, parameters: Sequence[str], *, internal: bool = True) -> None:
        arguments = ", ".join(f"i64 %{name}" for name in parameters)
        scope, inlined = ("internal ", " alwaysinline") if internal else ("", "")
        self._heading = f"define {scope}i64 @{name}({arguments}){inlined}"
        self._places: list[str] = []
        self._lines: list[str] = []
        self._numbers = count()
        self.parameters = [Word(self, f"%{p}") for p in parameters]

    def text(self) -> str:
        """The function as LLVM IR."""
        return "\n".join([f"{self._heading} {{", *self._places, *self._lines, "  unreachable", "}"])

    def line(self, instruction: str) -> None:
        """Write down one more instruction."""
        self._lines.append(f"  {instruction}")

    def value(self, instruction: str, kind: str = "i64") -> Word:
        """Add an instruction that gives a value."""
        name = f"%v{next(self._numbers)}"
        self.line(f"{name} = {instruction}")
        return Word(self, name, kind)

    def word(self, value: int) -> Word:
        """A number as a word: an address, say, that is known."""
        return Word(self, str(value))

    def variable(self, value: Word | int) -> Variable:
        """A new variable with a first value."""
        name = self._place(1)
        made = Variable(self, name)
        made.set(value)
        return made

    def block(self, words: int) -> Word:
        """The address of so many words that live as long as the call."""
        return self.value(f"ptrtoint ptr {self._place(words)} to i64")

    def load(self, address: Word, place: Word | int = 0) -> Word:
        """The word that is ``place`` words after an address."""
        return self.value(f"load i64, ptr {self._pointer(address, place)}")

    # What several threads see: each is whole, and in one order for all

    def load_atom(self, address: Word) -> Word:
        """The word at an address, as other threads have left it."""
        return self.value(f"load atomic i64, ptr {self._pointer(address)} seq_cst, align 8")

    def store_atom(self, address: Word, value: Word | int) -> None:
        """Put a word at an address, after everything that was written before."""
        self.line(f"store atomic i64 {_text(value)}, ptr {self._pointer(address)} seq_cst, align 8")

    def atomic_add(self, address: Word, value: Word | int) -> Word:
        """Add to the word at an address; gives what was there before."""
        return self.value(f"atomicrmw add ptr {self._pointer(address)}, i64 {_text(value)} seq_cst")

    def exchanged(self, address: Word, expected: int, value: int) -> Word:
        """Put a word at an address if the expected one is there; whether it was."""
        pair = f"cmpxchg ptr {self._pointer(address)}, i64 {expected}, i64 {value} seq_cst seq_cst"
        done = self.value(f"extractvalue {{i64, i1}} {self.value(pair, 'pair').text}, 1", "i1")
        return self.value(f"zext i1 {done.text} to i64")

    def pause(self) -> None:
        """Wait for some cycles of the processor: by ``pause``, a function of this module."""
        self.line("call void @pause()")

    def load_32(self, address: Word) -> Word:
        """The 32 bits at an address, as a word."""
        half = self.value(f"load i32, ptr {self._pointer(address)}")
        return self.value(f"zext i32 {half.text} to i64")

    def store(self, address: Word, value: Word | int, place: Word | int = 0) -> None:
        """Put a word ``place`` words after an address."""
        self.line(f"store i64 {_text(value)}, ptr {self._pointer(address, place)}")

    def store_32(self, address: Word, value: int) -> None:
        """Put a number of 32 bits at an address."""
        self.line(f"store i32 {value}, ptr {self._pointer(address)}")

    def copy(self, target: Word, source: Word, size: Word | int) -> None:
        """Copy so many bytes from one address to another."""
        arguments = f"ptr {self._pointer(target)}, ptr {self._pointer(source)}, i64 {_text(size)}, i1 false"
        self.line(f"call void @llvm.memcpy.p0.p0.i64({arguments})")

    def clear(self, target: Word, size: Word | int) -> None:
        """Set so many bytes at an address to zero."""
        self.line(f"call void @llvm.memset.p0.i64(ptr {self._pointer(target)}, i8 0, i64 {_text(size)}, i1 false)")

    def double_of(self, integer: Word) -> Word:
        """The bits of a signed whole number as a double."""
        number = self.value(f"sitofp i64 {integer.text} to double", "double")
        return self.value(f"bitcast double {number.text} to i64")

    def choose(self, test: Word, yes: Word | int, no: Word | int) -> Word:
        """One of two words."""
        return self.value(f"select i1 {test.text}, i64 {_text(yes)}, i64 {_text(no)}")

    def call(self, function: Word | str, *arguments: Word | int | tuple[str, Word | int], gives: str = "i64") -> Word:
        """Call a function of this module by name, or one of C by its address; (type, word) passes less than 64 bits."""
        passed = [x if isinstance(x, tuple) else ("i64", x) for x in arguments]
        listed = ", ".join(f"{kind} {self._narrow(kind, x)}" for kind, x in passed)
        called = f"@{function}" if isinstance(function, str) else self._pointer(function)
        if gives == "void":
            self.line(f"call void {called}({listed})")
            return Word(self, "0")
        made = self.value(f"call {gives} {called}({listed})", gives)
        return made if gives == "i64" else self.value(f"sext {gives} {made.text} to i64")

    def give(self, value: Word | int) -> None:
        """End the call with this value as its result."""
        self.line(f"ret i64 {_text(value)}")
        self._begin(self._label())

    @contextmanager
    def when(self, test: Word) -> Iterator[None]:
        """What follows happens only if a test holds."""
        inside, after = self._label(), self._label()
        self.line(f"br i1 {test.text}, label %{inside}, label %{after}")
        self._begin(inside)
        yield
        self.line(f"br label %{after}")
        self._begin(after)

    @contextmanager
    def while_(self, variable: Variable, differs_from: Word | int = 0) -> Iterator[Word]:
        """What follows is repeated as long as a variable differs from a value; gives its value at each beginning."""
        head, inside, after = self._label(), self._label(), self._label()
        self.line(f"br label %{head}")
        self._begin(head)
        now = variable.get()
        self.line(f"br i1 {(now != differs_from).text}, label %{inside}, label %{after}")
        self._begin(inside)
        yield now
        self.line(f"br label %{head}")
        self._begin(after)

    @contextmanager
    def loop(self, times: Word | int) -> Iterator[Word]:
        """What follows is repeated; gives the number of the round, from 0."""
        k = self.variable(0)
        with self.while_(k, times) as now:
            yield now
            k.set(now + 1)

    def _place(self, words: int) -> str:
        name = f"%p{next(self._numbers)}"
        self._places.append(f"  {name} = alloca i64, i64 {words}")
        return name

    def _pointer(self, address: Word, place: Word | int = 0) -> str:
        if isinstance(place, int):
            at = address if place == 0 else address + 8 * place
        else:
            at = address + place * 8
        return self.value(f"inttoptr i64 {at.text} to ptr", "ptr").text

    def _narrow(self, kind: str, word: Word | int) -> str:
        if kind == "i64" or isinstance(word, int):
            return _text(word)
        return self.value(f"trunc i64 {word.text} to {kind}", kind).text

    def _label(self) -> str:
        return f"l{next(self._numbers)}"

    def _begin(self, label: str) -> None:
        self._lines.append(f"{label}:")


def module(functions: Sequence[Function], *declared: str) -> str:
    """The text of functions that call each other, and functions of the C library that are ``declared``."""
    memcpy = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
    memset = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"
    return "\n\n".join([memcpy, memset, *declared, *(function.text() for function in functions)])


def _text(x: Word | int) -> str:
    return str(x) if isinstance(x, int) else x.text
