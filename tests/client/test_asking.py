"""Which failures of a message are waited out: a server that goes away in the middle of an answer is one of them."""

import pytest
from temporalio.service import RPCError, RPCStatusCode

from client.asking import Patience, until_answered
from domain.contracts.errors import NoAnswer

QUICK = Patience(in_all=5.0, first_wait=0.001, longest_wait=0.002)


class Server:
    """Fails once with the status, then answers."""

    def __init__(self, status: RPCStatusCode, message: str = "transport error") -> None:
        self.failure = RPCError(message, status, b"")
        self.asked = 0

    async def ask(self) -> str:
        self.asked += 1
        if self.asked == 1:
            raise self.failure
        return "an answer"


@pytest.mark.parametrize("status", [RPCStatusCode.UNAVAILABLE, RPCStatusCode.UNKNOWN, RPCStatusCode.INTERNAL])
async def test_a_connection_that_broke_is_asked_again(status: RPCStatusCode) -> None:
    server = Server(status)
    assert await until_answered(server.ask, QUICK, "asking") == "an answer"
    assert server.asked == 2


@pytest.mark.parametrize("status", [RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.INVALID_ARGUMENT])
async def test_what_waiting_cannot_mend_is_not_asked_again(status: RPCStatusCode) -> None:
    server = Server(status, "no")
    with pytest.raises(RPCError, match="no"):
        await until_answered(server.ask, QUICK, "asking")
    assert server.asked == 1


async def test_patience_ends_with_the_last_reason() -> None:
    async def never() -> str:
        raise RPCError("transport error", RPCStatusCode.UNKNOWN, b"")

    with pytest.raises(NoAnswer, match="transport error"):
        await until_answered(never, Patience(in_all=0.05, first_wait=0.01), "asking")
