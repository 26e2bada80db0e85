"""Problems found in a robot file, collected so that all are reported together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from torsor._html import block, plain
from torsor.errors import FileError, ModelError, printable, unknown_name
from torsor.formats.rules import ACCEPTS, RULES, Severity, why_never

MOST_OF_A_RULE = 100  # findings of one rule that are kept; of the others it is said how many there are
MOST_TOLD = 100  # errors that one exception lists
MOST_COMPARED = 20_000  # names that one report looks at to find the nearest
ALL = "all"  # instead of names: every repair
LONGEST = 1000  # letters of an element or message that are shown
RELATED = ("unknown-tag", "unknown-key", "misspelt-attribute")  # may be why something else is missing


@dataclass(frozen=True)
class Finding:
    """One problem in a robot file; printed, one line with what to do about it.

    Attributes
    ----------
    rule : str
        Which rule is broken (docs/rules.md).
    severity : Severity
        "error", "warning" or "note".
    file : str
    line : int or None
        None if it is not known.
    element : str
        Which part of the file, such as "joint 'elbow'".
    message : str
        What was found.
    repaired : bool
        Whether it was mended.
    hint : str
        What to do about it, where that is something else than the rule's own advice.
    accepted : bool
        Whether it was an error that was accepted, with the file's own numbers.
    """

    rule: str
    severity: Severity
    file: str
    line: int | None
    element: str
    message: str
    repaired: bool = False
    hint: str = ""
    accepted: bool = False

    @property
    def advice(self) -> str:
        """What to do about it."""
        return self.hint or RULES[self.rule].advice

    @property
    def place(self) -> tuple[bool, int]:
        """For sorting by line, those without one last."""
        return self.line is None, self.line or 0

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        element = f"{_cut(self.element)}: " if self.element else ""
        rule = RULES[self.rule]
        end = f"The repair {rule.repair}." if self.repaired else self.advice
        if self.accepted:
            end = f"Accepting it {ACCEPTS[self.rule]}."
        if self.severity is Severity.ERROR:
            ways = [word for word, offer in (("repair", rule.repair), ("accept", ACCEPTS.get(self.rule))) if offer]
            if ways and not self.hint:
                end += " Or load it with " + " or ".join(f"{way}=[{self.rule!r}]" for way in ways) + "."
        return printable(f"{place}: {self.severity}: {element}{_cut(self.message)}. {end} [{self.rule}]")

    def _repr_html_(self) -> str:
        """The line, with its severity in bold, for notebooks."""
        line = plain(str(self), 4 * LONGEST)
        return block(line.replace(f": {self.severity}: ", f": <strong>{self.severity}</strong>: ", 1))

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "rule": self.rule,
            "severity": str(self.severity),
            "file": self.file,
            "line": self.line,
            "element": self.element,
            "message": self.message,
            "advice": self.advice,
            "repaired": self.repaired,
            "accepted": self.accepted,
        }


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def unreadable(file: str, message: str, advice: str, rule: str = "file-unreadable") -> FileError:
    """The error of a file of which nothing can be read: a message and what to do, without full stop and with one."""
    finding = Finding(rule, Severity.ERROR, file, None, "", message, hint=advice)
    return FileError(printable(f"{file}: {message}. {advice}"), (finding,))


@dataclass
class Findings:
    """Where readers and checks put what they find. ``repair``, ``ignore`` and ``accept`` are names of rules.

    Findings of ``accept`` are warnings instead of errors. ``on_purpose``: rules that the file itself says it breaks on purpose;
    their findings are notes. ``repair="all"`` is every repair, but of rules that are accepted. Of each rule the first findings
    are kept, and all repairs; ``errors`` counts every error.
    """

    file: str
    repair: Collection[str] = ()
    ignore: Collection[str] = ()
    accept: Collection[str] = ()
    on_purpose: Collection[str] = ()
    findings: list[Finding] = field(default_factory=list)
    errors: int = 0
    _met: Counter[tuple[str, Severity]] = field(default_factory=Counter)
    _compared: int = 0

    def __post_init__(self) -> None:
        self.tells_repairs = self.repair == ALL
        repairable = [name for name, rule in RULES.items() if rule.repair] if self.repair else []
        if self.tells_repairs:
            self.repair = [name for name in repairable if name not in self.accept]
        for name in self.repair:
            if name not in repairable:
                raise unknown_name("torsor", "repair", name, repairable, ", ".join(repairable))
            if name in self.accept:
                raise ModelError(f"{name!r} is named in `repair` and in `accept`: it is mended or kept, not both.")
        for name in self.accept:
            if name not in RULES:
                raise unknown_name("torsor", "rule", name, RULES, "docs/rules.md")
            if RULES[name].severity is Severity.ERROR and (reason := why_never(name)):
                offer = f" repair=[{name!r}] {RULES[name].repair}." if RULES[name].repair else f" {RULES[name].advice}"
                raise FileError(f"accept: {name!r} cannot be accepted: {reason}.{offer}")
        for name in self.ignore:
            if name not in RULES:
                raise unknown_name("torsor", "rule", name, RULES, "docs/rules.md")
            if RULES[name].severity is Severity.ERROR:
                raise FileError(
                    f"ignore: {name!r} is an error and cannot be silenced"
                    + (f"; repair=[{name!r}] {RULES[name].repair}." if RULES[name].repair else ".")
                )

    def add(
        self,
        rule: str,
        line: int | None,
        element: str,
        message: str,
        fix: Callable[[], object] | None = None,
        advice: str = "",
        *,
        final: bool = False,
    ) -> None:
        """Record a finding; if its rule is to be repaired, ``fix()`` is done and the finding says so.

        ``advice`` stands for that of the rule, where it would mislead. What is ``final`` stops the reading: nobody can accept it.
        """
        if rule in self.ignore:
            return
        repaired = fix is not None and rule in self.repair
        if repaired and fix is not None:
            fix()
        severity = RULES[rule].severity
        accepted = severity is Severity.ERROR and rule in self.accept and not final and not repaired
        if accepted:
            severity = Severity.WARNING
        elif repaired or (rule in self.on_purpose and not final):
            severity = Severity.NOTE
        self.errors += severity is Severity.ERROR
        if not repaired:
            self._met[rule, severity] += 1
            if self._met[rule, severity] > MOST_OF_A_RULE:
                return
        self.findings.append(Finding(rule, severity, self.file, line, element, message, repaired, advice, accepted))

    def nearest(self, name: str, known: Collection[str]) -> str:
        """The known name that is nearest, if one is near, else ""; also after many, for comparing takes time."""
        self._compared += len(known)
        near = [] if self._compared > MOST_COMPARED else get_close_matches(name[:60], sorted(known), n=1, cutoff=0.6)
        return near[0] if near else ""

    def did_you_mean(self, name: str, known: Collection[str]) -> str:
        """A remark on the nearest name, if one is near."""
        near = self.nearest(name, known)
        return f" (did you mean {near!r}?)" if near else ""

    def of(self, severity: Severity) -> Iterator[Finding]:
        """The findings of one severity."""
        return (finding for finding in self.complete() if finding.severity is severity)

    def complete(self) -> list[Finding]:
        """All findings, with how many more there are of rules that were met too often to list."""
        more = [
            Finding(rule, severity, self.file, None, "", f"{count - MOST_OF_A_RULE:,} more like these are not listed")
            for (rule, severity), count in self._met.items()
            if count > MOST_OF_A_RULE
        ]
        return self.findings + more

    def told(self) -> Iterator[str]:
        """What loading warns of: once per rule, with how many places there are. Repairs too, if all were asked for."""
        first: dict[str, Finding] = {}
        places: Counter[str] = Counter()
        for finding in self.findings:
            if finding.severity is Severity.WARNING or (finding.repaired and self.tells_repairs):
                first.setdefault(finding.rule, finding)
                places[finding.rule] += 1
        for rule, finding in first.items():
            more = max(places[rule], self._met[rule, Severity.WARNING]) - 1
            yield f"{finding} … and {more:,} more, in robot.source.findings." if more else str(finding)

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return self.errors > 0

    def raise_errors(self) -> None:
        """Raise all errors as one, if there are any."""
        if not self.failed:
            return
        errors = sorted(self.of(Severity.ERROR), key=lambda finding: finding.place)
        head = "1 error" if self.errors == 1 else f"{self.errors:,} errors"
        related = [finding for finding in self.findings if finding.rule in RELATED]
        told = [str(finding) for finding in (*errors[:MOST_TOLD], *related[:MOST_TOLD])]
        if len(errors) > MOST_TOLD:
            told.append(f"… and {self.errors - MOST_TOLD:,} more errors.")
        raise FileError("\n  ".join([f"{printable(self.file)}: {head}", *told]), tuple(errors))
