"""Every declared activity has exactly one implementation in a worker, and the fixture of this room reaches it."""

from domain.ports.registry import REFS
from tests.support.installation import Installation


async def test_every_reference_is_implemented_once(installation: Installation) -> None:
    assert sorted(installation.bound) == sorted(ref.name for ref in REFS)
