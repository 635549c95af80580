"""Recurring times in plain words, and the moments that they are.

Nothing here knows what a time is for: windows of maintenance are planned by it, and whatever else
comes back every week may be.
"""

from bailiwick.calendars.language import parse_rule, spell_rule
from bailiwick.calendars.occurrences import Occurrence, occurrences
from bailiwick.calendars.rules import CalendarRule, Monthly, Once, Weekly, Which

__all__ = [
    "CalendarRule",
    "Monthly",
    "Occurrence",
    "Once",
    "Weekly",
    "Which",
    "occurrences",
    "parse_rule",
    "spell_rule",
]
