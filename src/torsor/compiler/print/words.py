"""A small language for machine code that handles objects in memory: functions over 64-bit words, printed as LLVM IR.

Addresses, counts and bits are words alike. A function is written down by one of Python, which runs once (`module`): its first
parameter is the `Function`, the others are those of the machine code, words or structures in memory (`Fields`). Operators and
calls add instructions, ``with f.when(test):`` and ``with f.loop(n) as k:`` enclose what is under a condition or repeated, and a
`Variable` is what changes. Variables become registers when LLVM's passes run (`optimised` of a `Module`).
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any, ClassVar, Self

Write = Callable[..., None]  # writes a function down


def _operator(instruction: str, kind: str | None = None) -> Callable[[Word, Word | int], Word]:
    def apply(self: Word, other: Word | int) -> Word:
        return self.function.value(f"{instruction} {self.kind} {self.text}, {_text(other)}", kind or self.kind)

    return apply


class Word:
    """A value of 64 bits, or (``kind`` "i1") a truth value, of a function that is being written."""

    def __init__(self, function: Function, text: str, kind: str = "i64") -> None:
        self.function, self.text, self.kind = function, text, kind

    __add__ = _operator("add")
    __sub__ = _operator("sub")
    __mul__ = _operator("mul")
    __floordiv__ = _operator("udiv")
    __rshift__ = _operator("lshr")
    __and__ = _operator("and")
    __or__ = _operator("or")
    __eq__ = _operator("icmp eq", "i1")  # type: ignore[assignment]
    __ne__ = _operator("icmp ne", "i1")  # type: ignore[assignment]
    __lt__ = _operator("icmp ult", "i1")
    __le__ = _operator("icmp ule", "i1")
    __gt__ = _operator("icmp ugt", "i1")
    __ge__ = _operator("icmp uge", "i1")
    __hash__ = None  # type: ignore[assignment]

    def __invert__(self) -> Word:
        """Whether a truth value is false."""
        return self.function.value(f"xor i1 {self.text}, true", "i1")


class Fields(Word):
    """The address of a structure in memory. Its words have ``names``, by which they are read where they are needed."""

    names: ClassVar[tuple[str, ...]]

    @classmethod
    @cache
    def structure(cls) -> Any:
        """The same for ctypes: what Python makes, and reads and writes by name."""
        return type(cls.__name__, (ctypes.Structure,), {"_fields_": [(name, ctypes.c_uint64) for name in cls.names]})

    @classmethod
    def at(cls, address: Word, place: Word | int = 0) -> Self:
        """The structure that is ``place`` structures after an address."""
        start = address + place * (8 * len(cls.names))
        return cls(start.function, start.text)

    def __getattr__(self, name: str) -> Word:
        return self.function.load(self, self.names.index(name))

    def set(self, **words: Word | int) -> None:
        """Write words of the structure."""
        for name, word in words.items():
            self.function.store(self, word, self.names.index(name))

    def where(self, name: str) -> Word:
        """The address of a word of the structure."""
        return self + 8 * self.names.index(name)


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

    def __init__(self, write: Write, *, internal: bool) -> None:
        _, *parameters = inspect.signature(write, eval_str=True).parameters.values()
        arguments = ", ".join(f"i64 %{parameter.name}" for parameter in parameters)
        scope, inlined = ("internal ", " alwaysinline") if internal else ("", "")
        self._heading = f"define {scope}i64 @{write.__name__}({arguments}){inlined}"
        self._places: list[str] = []
        self._lines: list[str] = []
        self._numbers = count()
        self.called: list[Write] = []
        write(self, *(parameter.annotation(self, f"%{parameter.name}") for parameter in parameters))

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

    def call(
        self, function: Word | str | Write, *arguments: Word | int | tuple[str, Word | int], gives: str = "i64"
    ) -> Word:
        """Call a function that is written too, one that is declared by name, or one of C by its address.

        (type, word) passes less than 64 bits.
        """
        if isinstance(function, Word):
            called = self._pointer(function)
        elif isinstance(function, str):
            called = f"@{function}"
        else:
            self.called.append(function)
            called = f"@{function.__name__}"
        passed = [x if isinstance(x, tuple) else ("i64", x) for x in arguments]
        call = f"call {gives} {called}({', '.join(f'{kind} {self._narrow(kind, x)}' for kind, x in passed)})"
        if gives == "void":
            self.line(call)
            return Word(self, "0")
        made = self.value(call, gives)
        return made if gives == "i64" else self.value(f"sext {gives} {made.text} to i64")

    def give(self, value: Word | int) -> None:
        """End the call with this value as its result."""
        self.line(f"ret i64 {_text(value)}")
        self._begin(self._label())

    def refuse_if(self, test: Word) -> None:
        """End the call with 0 if a test holds."""
        with self.when(test):
            self.give(0)

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
        at = address if isinstance(place, int) and place == 0 else address + place * 8
        return self.value(f"inttoptr i64 {at.text} to ptr", "ptr").text

    def _narrow(self, kind: str, word: Word | int) -> str:
        if kind == "i64" or isinstance(word, int):
            return _text(word)
        return self.value(f"trunc i64 {word.text} to {kind}", kind).text

    def _label(self) -> str:
        return f"l{next(self._numbers)}"

    def _begin(self, label: str) -> None:
        self._lines.append(f"{label}:")


def module(functions: Sequence[Write], *declared: str, kind: type[Function] = Function) -> str:
    """The text of functions, of all that they call, and of functions of the C library that are ``declared``."""
    memcpy = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
    memset = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"
    written: dict[Any, str] = {}
    waiting = list(functions)
    while waiting:
        if (write := waiting.pop()) not in written:
            made = kind(write, internal=write not in functions)
            written[write] = made.text()
            waiting += made.called
    return "\n\n".join([memcpy, memset, *declared, *written.values()])


def _text(x: Word | int) -> str:
    return str(x) if isinstance(x, int) else x.text
