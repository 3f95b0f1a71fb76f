"""What a platform installs to hand in its runs and to decide approvals.

In a platform's environment it is `temporality_client`; it carries `domain.contracts` with it and needs temporalio and pydantic only.
"""

from client.asking import Patience
from client.connect import ClientSettings, connect
from client.converter import data_converter
from client.decide import decide
from client.record import RecordOptions, RunRecorder
from domain.contracts.approval import Decision, DecisionAnswer
from domain.contracts.observed_run import Complete, CompleteAnswer, EventAnswer, ObservedRunInput

__all__ = [
    "ClientSettings",
    "Complete",
    "CompleteAnswer",
    "Decision",
    "DecisionAnswer",
    "EventAnswer",
    "ObservedRunInput",
    "Patience",
    "RecordOptions",
    "RunRecorder",
    "connect",
    "data_converter",
    "decide",
]
