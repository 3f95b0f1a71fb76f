"""The examples of the documentation are run as they stand there, against workflows that take the documented messages."""

import re
import sys
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from domain.contracts import names
from domain.contracts.approval import ApprovalInput
from tests.client.conftest import Caller
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "contracts" / "README.md"


def examples(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def loaded(source: str) -> dict[str, Any]:
    scope: dict[str, Any] = {"__name__": "example"}
    exec(compile(source, "README.md", "exec"), scope)
    return scope


async def test_recording_with_the_sdk_alone(served: Caller, capsys: pytest.CaptureFixture[str]) -> None:
    source = examples(PAGE)[0].replace("run-18", f"run-{uuid.uuid4().hex}")
    await loaded(source)["record"](served.client.service_client.config.target_host)
    assert capsys.readouterr().out == "recorded\n1\n"


async def test_deciding_with_the_sdk_alone(served: Caller, capsys: pytest.CaptureFixture[str]) -> None:
    address = served.client.service_client.config.target_host
    approve = loaded(examples(PAGE)[1])["approve"]
    for title, within in (("", timedelta(days=1)), ("", timedelta(seconds=-1))):
        approval = f"a-{uuid.uuid4().hex}"
        handle = await served.client.start_workflow(
            names.APPROVAL,
            ApprovalInput(project="p", approval=approval, deadline=datetime.now(UTC) + within, title=title),
            id=names.approval_workflow_id("p", approval),
            task_queue=names.TASK_QUEUE,
        )
        if within < timedelta(0):
            await handle.result()
        await approve(address, "p", approval)
    assert capsys.readouterr().out == "True approved None\nclosed: expired\n"


async def test_the_example_of_the_wheel(
    served: Caller, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import client as room

    [source] = examples(ROOT / "deploy" / "client" / "README.md")
    monkeypatch.setitem(sys.modules, "temporality_client", room)
    monkeypatch.setenv("TEMPORAL_ADDRESS", served.client.service_client.config.target_host)
    handle = await served.client.start_workflow(
        names.APPROVAL,
        ApprovalInput(project="shop", approval="approval-id", deadline=datetime.now(UTC) + timedelta(days=1)),
        id=names.approval_workflow_id("shop", "approval-id"),
        task_queue=names.TASK_QUEUE,
    )
    await loaded(source.replace("asyncio.run(main())", ""))["main"]()
    await handle.result()
    assert capsys.readouterr().out == "['recorded', 'recorded']\n1,2\napproved\n"


def test_the_page_names_what_the_contract_names() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name in (names.OBSERVED_RUN, names.IMPORT, names.KNOWLEDGE_EXTRACTION, names.APPROVAL, names.TASK_QUEUE):
        assert f"`{name}`" in page
    for name in (names.RECORD, names.COMPLETE, names.DECIDE, names.PROGRESS, names.STATE):
        assert f"`{name}`" in page
    linked = set(re.findall(r"\]\((\w+\.json)\)", page))
    assert linked == {path.name for path in PAGE.parent.glob("*.json")}
