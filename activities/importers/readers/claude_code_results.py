"""What a Claude Code tool result says: its text, and whether the call succeeded.

The format has no exit code: a shell result that is no error was exit 0 by the format's own rule, a failure says `Exit
code N` in its text; what runs in the background, was interrupted or was refused by the user says nothing about
success.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from activities.importers.calls import Call
from activities.importers.shapes import mapping

SHELL_TOOLS = frozenset({"Bash", "bash", "PowerShell"})
_EXIT_CODE = re.compile(r"\A(?:Error: )?Exit code (-?\d{1,9})\b")
_BACKGROUND = re.compile(
    r"\ACommand (?:running|was (?:manually )?(?:backgrounded|moved to)).*background", re.IGNORECASE
)
_DENIED = (
    "The user doesn't want to proceed",
    "The user doesn't want to take this action",
    "Claude requested permissions",
)
_SHORT = 500


def text_of(content: Any) -> str:
    """The text of a result's content: a string, blocks of text, or bare strings; what is no text is named by its
    type.
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts: list[str] = []
    for block in content:
        if isinstance(block, str):
            parts.append(block)
        elif isinstance(block, Mapping):
            shape = block
            text = shape.get("text")
            parts.append(text if isinstance(text, str) else f"[{shape.get('type', 'block')}]")
    return "\n".join(parts)


def result_data(block: Mapping[str, Any], structured: Any, call: Call | None) -> tuple[str, dict[str, Any]]:
    """(`completed` or `failed`, the payload) of one tool_result block and the record's structured copy of it."""
    output = text_of(block.get("content"))
    data: dict[str, Any] = {"tool": call.tool if call else None}
    told: Mapping[str, Any] = mapping(structured)
    if details := _details(told):
        data["details"] = details
    if block.get("is_error") is True:
        data["error"] = output or (structured if isinstance(structured, str) else "")
        code = _EXIT_CODE.match(output) or (_EXIT_CODE.match(structured) if isinstance(structured, str) else None)
        if code and (call is None or call.command):
            data["exit_code"] = int(code.group(1))
        if output.startswith(_DENIED):
            data["denied"] = True
        return "failed", data
    data["output"] = output
    stderr = told.get("stderr")
    if isinstance(stderr, str) and stderr and stderr not in output:
        data["error"] = stderr
    data.update(_success(block, told, output, call))
    return "completed", data


def _success(block: Mapping[str, Any], told: Mapping[str, Any], output: str, call: Call | None) -> dict[str, Any]:
    """What a result that is no error says about success; nothing when it came before the command's end."""
    code = told.get("exitCode")
    if isinstance(code, int) and not isinstance(code, bool):
        return {"exit_code": code}
    if told.get("interrupted") is True:
        return {"interrupted": True}
    if told.get("backgroundTaskId") or (call and call.command and _BACKGROUND.match(output)):
        return {"background": True}
    if told.get("status") == "running" or told.get("returnCodeInterpretation") or told.get("is_error") is True:
        return {}
    if call is None:
        return {}
    return {
        "success": True,
        "success_basis": "flag" if block.get("is_error") is False and not call.command else "format",
    }


def _details(told: Mapping[str, Any]) -> dict[str, Any]:
    """The short scalars of the structured copy: paths, counts, states; its long texts repeat the result or the call."""
    found: dict[str, Any] = {}
    for key, value in told.items():
        if key in ("stdout", "stderr") or value is None or value is False:
            continue
        if isinstance(value, Mapping):
            inner = {k: v for k, v in value.items() if _scalar(v)}
            if inner:
                found[key] = inner
        elif _scalar(value):
            found[key] = value
    return found


def _scalar(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and 0 < len(value) <= _SHORT)
