"""Resolve the directory a command runs in by its written path alone.

No file system is asked: `..` removes the part before it, as the shell's own logical `cd` does.
"""


def resolve(workspace: str, target: str) -> str:
    """The path of `target` as seen from `workspace`, both POSIX; a target that starts with / or ~ stands alone.

    The workspace itself comes back as it was given when the target stays in it: `resolve("/repo/", ".") == "/repo/"`.
    """
    if target.startswith(("/", "~")):
        return _normal(target)
    steps = [step for step in target.split("/") if step not in ("", ".")]
    if not steps:
        return workspace
    return _normal(f"{workspace}/{target}" if workspace else target)


def _normal(path: str) -> str:
    root = "/" if path.startswith("/") else ""
    kept: list[str] = []
    for step in path.split("/"):
        if step in ("", "."):
            continue
        if step != "..":
            kept.append(step)
        elif kept and kept[-1] != "..":
            kept.pop()
        elif not root:
            kept.append(step)
    return root + "/".join(kept) or "."
