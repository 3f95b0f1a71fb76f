"""Who may do what: actors are issuer-scoped, decisions are made by people and services, never by agents or by the run that proposed."""

from __future__ import annotations

import re

_ACTOR = re.compile(r"(human|agent|system|service):[^:\s]+:\S+\Z")


def actor_refusal(actor: str | None) -> str | None:
    """Why this is no actor, as a sentence; None when it is one."""
    if not actor:
        return "a decision names who decides; set TEMPORALITY_ACTOR or give --as, written type:issuer:id (human:example.org:u42)"
    if len(actor) > 256 or not _ACTOR.match(actor):
        return f"`{actor[:80]}` is no actor; write type:issuer:id with type human, agent, system or service (human:example.org:u42)"
    return None


def decider_refusal(actor: str | None) -> str | None:
    """Why this actor may not decide; None when it may."""
    refusal = actor_refusal(actor)
    if refusal is None and actor is not None and actor.startswith("agent:"):
        return f"`{actor}` is an agent, and agents never decide; a person or a service does"
    return refusal
