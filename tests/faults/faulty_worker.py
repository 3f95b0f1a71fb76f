"""The worker of the fault suite: the real one, composed as always, with the hooks around its activities and workflows."""

import asyncio
import logging
import os
import sys
from pathlib import Path

import settings
import worker
from tests.faults.hooks import Faults
from tests.faults.ledger import Ledger


def main(ledger_file: str) -> int:
    """Like `worker.py`, with the ledger's path as its one argument."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    ledger = Ledger(Path(ledger_file))
    ledger.forget_claims()
    asyncio.run(worker.run(settings.load(), interceptors=[Faults(ledger)]))
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
