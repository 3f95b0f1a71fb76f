"""What every test has: the shared data where it exists, one seed, and no workflow that abandons its callers.

Chance comes from the session's seed alone, and every failure prints how to run it again.
"""

import hashlib
import os
import random
import secrets
import warnings
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest
from hypothesis import is_hypothesis_test
from temporalio.workflow import UnfinishedSignalHandlersWarning, UnfinishedUpdateHandlersWarning

ROOT = Path(__file__).resolve().parents[1]
SEED = "TEMPORALITY_SEED"

UNFINISHED = (UnfinishedUpdateHandlersWarning, UnfinishedSignalHandlersWarning)


def shared_folder() -> Path:
    """The folder of shared input, which may not exist: TEMPORALITY_SHARED, else ../shared/data beside the project."""
    named = os.environ.get("TEMPORALITY_SHARED")
    return Path(named) if named else ROOT.parent / "shared" / "data"


def seed_of(nodeid: str) -> int:
    """The seed of one test: the session's seed and the test's name decide it, not the order of the tests."""
    return int.from_bytes(hashlib.sha256(f"{os.environ[SEED]} {nodeid}".encode()).digest()[:8], "big")


def pytest_configure(config: pytest.Config) -> None:
    # Set in the controller, inherited by xdist's workers.
    os.environ.setdefault(SEED, str(secrets.randbelow(10**9)))
    hypothesis.settings.register_profile("house", deadline=None, print_blob=True, database=None)
    hypothesis.settings.load_profile("house")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = not shared_folder().is_dir()
    for item in items:
        if missing and item.get_closest_marker("shared"):
            reason = f"no shared data at {shared_folder()}: set TEMPORALITY_SHARED to its folder"
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_runtest_setup(item: pytest.Item) -> None:
    test = getattr(item, "obj", None)
    if test is not None and is_hypothesis_test(test):
        hypothesis.seed(seed_of(item.nodeid))(getattr(test, "__func__", test))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        seed = os.environ[SEED]
        report.sections.append(("seed", f"{SEED}={seed} runs this test with the same choices again"))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    with warnings.catch_warnings(record=True) as seen:
        yield
    for entry in seen:
        if issubclass(entry.category, UNFINISHED):
            pytest.fail(f"a workflow ended over a running handler: {entry.message}", pytrace=False)
        warnings.warn_explicit(entry.message, entry.category, entry.filename, entry.lineno, source=entry.source)


@pytest.fixture
def shared_data(request: pytest.FixtureRequest) -> Path:
    """The folder of shared input; a test that takes it is marked `shared`."""
    if not request.node.get_closest_marker("shared"):
        pytest.fail("a test that takes shared_data is marked with @pytest.mark.shared")
    return shared_folder()


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """This test's seed, the same in every run with the same TEMPORALITY_SEED."""
    return seed_of(request.node.nodeid)


@pytest.fixture
def rng(seed: int) -> random.Random:
    """Chance that can be repeated."""
    return random.Random(seed)
