"""The border: what users pass is checked and converted once, in words where it is wrong; inner code trusts its callers."""

from torsor.border.arguments import explained as explained
from torsor.border.arrays import checked as checked
