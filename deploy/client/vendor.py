"""Put the room `client` and `domain.contracts` into one package, `temporality_client`, while the wheel is built.

Foreign environments must not get top-level packages named `client` or `domain`, so imports of the two are renamed; a module
that imports anything else of this project breaks the build.
"""

import ast
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROJECT: Final = Path(__file__).resolve().parents[2]
PACKAGE: Final = "temporality_client"
MOVED: Final = {"client": PACKAGE, "domain.contracts": f"{PACKAGE}.contracts"}
"""Each package that goes into the wheel, and its name there."""

_IMPORT = re.compile(r"^(?P<before>\s*(?:from|import)\s+)(?P<name>domain\.contracts|client)(?=[.\s])", re.MULTILINE)
_OURS = frozenset({"client", "domain", "workflows", "activities", "stack", "cli", "console", "settings", "worker"})


class VendorHook(BuildHookInterface[Any]):
    """Hands the renamed files to the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the package aside and include it; `version` is hatchling's word for the kind of build."""
        self._aside = Path(tempfile.mkdtemp(prefix="temporality-client-"))
        vendor(self._aside)
        build_data["force_include"][str(self._aside / PACKAGE)] = PACKAGE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Drop what was written aside."""
        shutil.rmtree(self._aside, ignore_errors=True)


def vendor(target: Path) -> None:
    """Write the package below `target`. Raises ValueError for a module that imports what the wheel does not carry."""
    for source, name in MOVED.items():
        origin = PROJECT.joinpath(*source.split("."))
        for path in sorted(origin.rglob("*")):
            if path.suffix != ".py" and path.name != "py.typed":
                continue
            moved = target.joinpath(*name.split("."), path.relative_to(origin))
            moved.parent.mkdir(parents=True, exist_ok=True)
            moved.write_text(_renamed(path), encoding="utf-8")


def _renamed(path: Path) -> str:
    text = _IMPORT.sub(lambda found: found["before"] + MOVED[found["name"]], path.read_text(encoding="utf-8"))
    for node in ast.walk(ast.parse(text, str(path))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        foreign = [name for name in names if name.partition(".")[0] in _OURS]
        if foreign:
            raise ValueError(f"{path.relative_to(PROJECT)} imports {foreign[0]}, which the wheel does not carry")
    return text
