"""What every store checks before it touches anything: a project and a hash that are what they say.

A project's id comes from workflow ids and a hash from events, so neither may lead out of its place.
"""

import hashlib
import re
from typing import BinaryIO, Final

from domain.contracts.errors import ArtifactMissing, MalformedId

CHUNK_BYTES: Final = 1024 * 1024

_PROJECT = re.compile(r"[A-Za-z0-9._~%-]{1,128}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def checked_project(project: str) -> str:
    """`project`, or `MalformedId` when it is no encoded project id."""
    if not _PROJECT.fullmatch(project):
        raise MalformedId(f"{project[:80]!r} is no encoded project id; encode it with `project_id`")
    return project


def checked_hash(sha256: str) -> str:
    """`sha256`, or `MalformedId` when it is not 64 hex digits in lower case."""
    if not _SHA256.fullmatch(sha256):
        raise MalformedId(f"{sha256[:80]!r} is no artifact; it takes the 64 hex digits of a sha256")
    return sha256


def missing(project: str, sha256: str) -> ArtifactMissing:
    """The error for a body that is not there."""
    return ArtifactMissing(f"project {project}, sha256 {sha256}: it is not there; restore it from a backup")


def damaged(project: str, sha256: str) -> ArtifactMissing:
    """The error for a body whose bytes no longer have the hash they are kept under."""
    return ArtifactMissing(f"project {project}, sha256 {sha256}: its bytes have another hash; restore it from a backup")


def hash_of(file: BinaryIO) -> str:
    """The hex sha256 of the rest of `file`, read in chunks of 1 MiB."""
    sha = hashlib.sha256()
    while chunk := file.read(CHUNK_BYTES):
        sha.update(chunk)
    return sha.hexdigest()
