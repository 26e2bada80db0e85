"""Problems found in a robot file, collected so that all are reported together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from torsor.errors import FileError, unknown_name
from torsor.formats.rules import RULES, Severity


@dataclass(frozen=True)
class Finding:
    """One problem: which rule, where (file and line, None if unknown), which element, what was found."""

    rule: str
    severity: Severity
    file: str
    line: int | None
    element: str
    message: str
    repaired: bool = False

    @property
    def advice(self) -> str:
        """What to do about it."""
        return RULES[self.rule].advice

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        element = f"{self.element}: " if self.element else ""
        rule = RULES[self.rule]
        end = f"The repair {rule.repair}." if self.repaired else self.advice
        if self.severity is Severity.ERROR and rule.repair:
            end += f" Or load it with repair=[{self.rule!r}]."
        return f"{place}: {self.severity}: {element}{self.message}. {end} [{self.rule}]"

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
        }


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A remark on the known name that is nearest, if one is near."""
    near = get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""


@dataclass
class Report:
    """Where readers and checks put what they find. ``repair`` and ``ignore`` are names of rules.

    ``accept``: rules that the file itself says it breaks on purpose; their findings are notes.
    """

    file: str
    repair: Collection[str] = ()
    ignore: Collection[str] = ()
    accept: Collection[str] = ()
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        repairable = [name for name, rule in RULES.items() if rule.repair]
        for name in self.repair:
            if name not in repairable:
                raise unknown_name("repair", "repair", name, repairable, ", ".join(repairable))
        for name in self.ignore:
            if name not in RULES:
                raise unknown_name("ignore", "rule", name, RULES, "docs/rules.md")
            if RULES[name].severity is Severity.ERROR:
                raise FileError(
                    f"ignore: {name!r} is an error and cannot be silenced"
                    + (f"; repair=[{name!r}] {RULES[name].repair}." if RULES[name].repair else ".")
                )

    def add(
        self, rule: str, line: int | None, element: str, message: str, fix: Callable[[], object] | None = None
    ) -> None:
        """Record a finding; if its rule is to be repaired, ``fix()`` is done and the finding says so."""
        if rule in self.ignore:
            return
        repaired = fix is not None and rule in self.repair
        if repaired and fix is not None:
            fix()
        severity = Severity.NOTE if repaired or rule in self.accept else RULES[rule].severity
        self.findings.append(Finding(rule, severity, self.file, line, element, message, repaired))

    def of(self, severity: Severity) -> Iterator[Finding]:
        """The findings of one severity."""
        return (finding for finding in self.findings if finding.severity is severity)

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return any(True for _ in self.of(Severity.ERROR))

    def raise_errors(self) -> None:
        """Raise all errors as one, if there are any."""
        errors = list(self.of(Severity.ERROR))
        if errors:
            errors.sort(key=lambda finding: finding.line or 0)
            head = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
            # a misspelt tag may be why something is missing
            related = [finding for finding in self.findings if finding.rule == "unknown-tag"]
            lines = [f"{self.file}: {head}", *(f"  {finding}" for finding in (*errors, *related))]
            raise FileError("\n".join(lines), tuple(errors))
