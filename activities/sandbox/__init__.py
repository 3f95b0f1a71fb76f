"""Commands and files of agents: commands run in a sandbox that ends with them, files stay inside the workspace.

What is not granted is not there: no network, no home, no variable, no process of the host.
"""

from activities.sandbox.policy import Command, Ended, Limits, Output, SandboxPolicy
from activities.sandbox.runner import Sandbox
from activities.sandbox.workspace import Workspace
from activities.sandbox.workspace_files import Entry, FileRead, FileWritten, Listing, WorkspaceFiles

__all__ = [
    "Command",
    "Ended",
    "Entry",
    "FileRead",
    "FileWritten",
    "Limits",
    "Listing",
    "Output",
    "Sandbox",
    "SandboxPolicy",
    "Workspace",
    "WorkspaceFiles",
]
