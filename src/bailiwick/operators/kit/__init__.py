"""Everything an operator needs but the one function that says what its app needs next."""

from bailiwick.operators.kit.answers import Again, Answer, Settled, reply
from bailiwick.operators.kit.calling import OnCall
from bailiwick.operators.kit.inside import RanInside
from bailiwick.operators.kit.instance_kit import Kit, Outdated
from bailiwick.operators.kit.running import TERM_S, OperatorSettings, run_operator
from bailiwick.operators.kit.tasks import OperatorTask

__all__ = [
    "TERM_S",
    "Again",
    "Answer",
    "Kit",
    "OnCall",
    "OperatorSettings",
    "OperatorTask",
    "Outdated",
    "RanInside",
    "Settled",
    "reply",
    "run_operator",
]
