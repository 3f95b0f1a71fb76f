"""`up`, `down`, `status`, `doctor`, `migrate`: the stack of one home.

`up` owns the servers for as long as it runs; `DATABASE_URL` and `TEMPORAL_ADDRESS` put servers of the user's own in their place.
"""

import sys
from dataclasses import asdict
from typing import Any

from cli.outcome import NOT_IN_ORDER, UNREACHABLE, Ended, StackUnreachable, Usage
from cli.output import emit, say
from domain.contracts.names import SEARCH_ATTRIBUTES
from settings import Settings, load, program_environment
from stack import embedded, supervisor
from stack.child import python
from stack.doctor import Ports, diagnose
from stack.embedded import StackStatus
from stack.errors import AlreadyRunning
from stack.record import StackRecord
from stack.supervisor import SupervisorSpec

COMMAND = ".venv/bin/temporality"


def spec_of(settings: Settings) -> SupervisorSpec:
    """What `up` owns with these settings: what no URL names, migrated, with a worker."""
    return SupervisorSpec(
        home=settings.home,
        temporal_port=settings.temporal_port,
        ui_port=settings.ui_port,
        search_attributes=SEARCH_ATTRIBUTES,
        postgres=settings.named_database_url is None,
        temporal=settings.named_temporal is None,
        prepare=(python("-P", "cli/__main__.py", "migrate"),),
        worker=python("worker.py"),
        worker_ready_file=settings.worker_ready_file,
        environment=program_environment(settings),
    )


def up(detach: bool, as_json: bool) -> None:
    """Start the stack; a second `up` says that it runs."""
    settings = load()
    now = embedded.status(settings.home)
    if now.running:
        _tell(now.record, settings, as_json, now.sentence())
        return
    spec = spec_of(settings)
    told = "The stack is up in the background; `temporality down` stops it."
    try:
        if detach:
            _tell(supervisor.detach(spec, program_environment(settings)), settings, as_json, told)
            return
        if not as_json:
            say(f"Starting Postgres, Temporal and a worker in {settings.home} ...")
        supervisor.supervise(
            spec, _aside, lambda record: _tell(record, settings, as_json, "The stack is up; Ctrl-C stops it.")
        )
    except AlreadyRunning as error:
        # another `up` was faster
        _tell(None, settings, as_json, str(error))


def down(as_json: bool) -> None:
    """Stop the stack and say so; nothing to stop is no fault."""
    settings = load()
    stopped = embedded.shut_down(settings.home)
    sentence = f"The stack in {settings.home} is stopped." if stopped else f"No stack was running in {settings.home}."
    if as_json:
        emit({"home": str(settings.home), "stopped": stopped})
    else:
        say(sentence)


def status(as_json: bool) -> None:
    """Say what runs; exit code 4 when something does not."""
    settings = load()
    now = embedded.status(settings.home)
    _tell(now.record, settings, as_json, now.sentence(), now)
    if not now.running:
        raise Ended(UNREACHABLE)


def doctor(as_json: bool) -> None:
    """Print every check; exit code 1 when one fails."""
    settings = load()
    checks = diagnose(settings.home, Ports(settings.temporal_port, settings.ui_port))
    for check in checks:
        if as_json:
            emit(asdict(check))
            continue
        say(f"{'ok ' if check.ok else 'NOT'} {check.name}: {check.detail}")
        if not check.ok and check.remedy:
            say(f"      {check.remedy}")
    if not all(check.ok for check in checks):
        raise Ended(NOT_IN_ORDER)


def migrate() -> None:
    """Bring the schema up to date, as the owner's role."""
    from sqlalchemy.exc import DBAPIError, OperationalError

    from activities.postgres.migrations import migrate as upgrade

    url = load().owner_database_url()
    try:
        upgrade(url)
    except OperationalError as error:
        raise StackUnreachable(f"Postgres does not answer ({_first_line(error.orig)}).") from None
    except DBAPIError as error:
        advice = "TEMPORALITY_OWNER_DATABASE_URL names a role that may change the schema"
        raise Usage(f"The schema cannot be brought up to date ({_first_line(error.orig)}); {advice}.") from None


def _first_line(error: object) -> str:
    return (str(error).strip().splitlines() or ["no reason given"])[0]


def _aside(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")


def _tell(
    record: StackRecord | None, settings: Settings, as_json: bool, sentence: str, now: StackStatus | None = None
) -> None:
    """Where things are, in words or as an object."""
    address = record.temporal.address if record and record.temporal else None
    ui = record.temporal.ui_url if record and record.temporal else None
    if as_json:
        told: dict[str, Any] = {
            "home": str(settings.home),
            "running": record is not None and (now is None or now.running),
        }
        parts = {} if now is None else {
            "postgres": now.postgres_alive, "temporal": now.temporal_alive, "worker": now.worker_alive,
        }  # fmt: skip
        emit({**told, "temporal_address": address, "temporal_ui": ui, "sentence": sentence, **parts})
        return
    say(sentence)
    if address:
        say(f"  Temporal      {address}")
    if ui:
        say(f"  Temporal UI   {ui}")
    if record is not None and now is None:
        say(f"  data and logs {settings.home}")
        say(f"  import        {COMMAND} import PATH...")
