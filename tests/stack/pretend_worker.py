"""A stand-in for the worker: says that it is ready, then waits for SIGTERM; `fail` ends at once."""

import os
import signal
import sys
import time
from pathlib import Path

if sys.argv[1] == "fail":
    sys.exit("no such queue")
signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))
Path(sys.argv[1]).write_text(f"{os.getpid()} {os.environ.get('TEMPORALITY_HOME')}")
while True:
    time.sleep(1)
