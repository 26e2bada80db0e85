"""Robot files: read strictly, explained, repaired when asked, written back."""

from torsor.formats._load import check as check, load as load
from torsor.formats.findings import Finding as Finding
from torsor.formats.rules import RULES as RULES, Severity as Severity
