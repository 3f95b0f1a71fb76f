"""Secrets that show what they are by their form: the key formats that issuers made recognisable.

Each search starts at a fixed text or at a long run of token characters, so its cost grows with the length of the
text and never with what stands in it.
"""

import re
from collections.abc import Iterator, Mapping

from domain.contracts.redaction_findings import Finding, Scanned

_PREFIXED = (
    ("aws_access_key_id", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])"),
    ("github_token", r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}"),
    ("gitlab_token", r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt)-[A-Za-z0-9_-]{20,}|GR1348941[A-Za-z0-9_-]{20,}"),
    ("slack_token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{20,}"),
    ("anthropic_key", r"sk-ant-[A-Za-z0-9_-]{16,}"),
    ("openrouter_key", r"sk-or-(?:v1-)?[A-Za-z0-9]{32,}"),
    ("openai_key", r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{16,}|sk-[A-Za-z0-9]{32,}"),
    ("google_api_key", r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("google_client_secret", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    ("stripe_key", r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{24,}"),
    ("npm_token", r"npm_[A-Za-z0-9]{36}"),
    ("pypi_token", r"pypi-AgE[A-Za-z0-9_-]{40,}"),
    ("rubygems_token", r"rubygems_[a-f0-9]{48}"),
    ("docker_token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{24,}"),
    ("twilio_key", r"SK[0-9a-f]{32}(?![0-9a-z])"),
    ("mailgun_key", r"key-[0-9a-z]{32}(?![0-9a-z])"),
    ("huggingface_token", r"hf_[A-Za-z0-9]{30,}|api_org_[A-Za-z0-9]{34}"),
    ("digitalocean_token", r"do[opr]_v1_[a-f0-9]{64}"),
    ("shopify_token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("databricks_token", r"dapi[a-f0-9]{32}(?![0-9a-z])"),
    ("linear_key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    ("notion_token", r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])"),
    ("vault_token", r"hv[sbr]_[A-Za-z0-9_-]{24,}"),
    ("grafana_token", r"gl(?:sa|c)_[A-Za-z0-9_]{32,}"),
    ("sentry_token", r"sntry[su]_[A-Za-z0-9_-]{32,}"),
    ("postman_key", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    ("replicate_token", r"r8_[A-Za-z0-9]{37}"),
    ("groq_key", r"gsk_[A-Za-z0-9]{40,}"),
    ("xai_key", r"xai-[A-Za-z0-9]{60,}"),
    ("perplexity_key", r"pplx-[A-Za-z0-9]{40,}"),
    ("supabase_token", r"sb[ps]_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,}"),
    ("figma_token", r"fig[do]_[A-Za-z0-9_-]{36,}"),
    ("atlassian_token", r"AT(?:ATT3|CTT3|BB)[A-Za-z0-9_-]{20,}=?[A-F0-9]{0,8}"),
    ("newrelic_key", r"NRAK-[A-Z0-9]{27}"),
    ("square_token", r"sq0(?:atp|csp)-[A-Za-z0-9_-]{22,}"),
    ("facebook_token", r"EAACEdEose0cBA[A-Za-z0-9]+"),
    ("age_secret_key", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    ("tailscale_key", r"tskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,}"),
)
_ANY_PREFIXED = re.compile("|".join(f"(?P<{kind}>{form})" for kind, form in _PREFIXED))
_PIECE = re.compile(r"[A-Za-z0-9]+")
_HEADS = frozenset(
    "AKI ASI ABI ACC ghp gho ghu ghs ghr git glp gld glr glc gls gla gli glf GR1 xox xap sk rk wh whs AIz GOC npm"
    " pyp rub dck key hf api dop doo dor shp dap lin ntn sec hvs hvb hvr snt PMA r8 gsk xai ppl sbp sbs sb fig ATA ATC"
    " ATB NRA sq0 EAA AGE tsk SK0 SK1 SK2 SK3 SK4 SK5 SK6 SK7 SK8 SK9 SKa SKb SKc SKd SKe SKf".split()
)
"""The first three characters, or the first word, of every form above: a cheap look before the long one."""

_STARTS = (
    ("jwt", b"eyJ", r"(?<![\w-])eyJ[\w-]{8,}+\.(?:eyJ[\w-]{8,}+(?:\.[\w-]*+)?|[\w-]*+(?:\.[\w-]++){3})"),
    ("sendgrid_key", b"SG.", r"(?<![\w.-])SG\.[\w-]{16,64}\.[\w-]{32,64}(?![\w-])"),
    ("vault_token", b"hvs.", r"(?<![\w.])hvs\.[\w-]{24,256}"),
    ("google_oauth_token", b"ya29.", r"(?<![\w.])ya29\.[\w-]{20,1024}"),
    ("doppler_token", b"dp.", r"(?<![\w.])dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,80}"),
    ("azure_client_secret", b"8Q~", None),
    ("azure_sas_signature", b"sig=", r"(?<![\w])sig=([A-Za-z0-9%+/=]{40,100})"),
    ("terraform_token", b".atlasv1.", None),
    ("mailchimp_key", b"-us", None),
    ("telegram_bot_token", b":AA", None),
    ("slack_webhook", b"hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+-]{20,120})"),
    ("discord_webhook", b"/api/webhooks/", r"/api/webhooks/\d{15,22}/([\w-]{40,120})"),
)
_AROUND: Mapping[str, tuple[int, re.Pattern[str]]] = {
    "azure_client_secret": (4, re.compile(r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~-])")),
    "terraform_token": (15, re.compile(r"(?<![\w.])\w{14}\.atlasv1\.[\w-]{60,80}")),
    "mailchimp_key": (32, re.compile(r"(?<!\w)[0-9a-f]{32}-us\d{1,2}(?!\w)")),
    "telegram_bot_token": (11, re.compile(r"(?<!\w)\d{8,10}:AA[\w-]{32,33}(?![\w-])")),
}
_AT_START: Mapping[str, re.Pattern[str]] = {kind: re.compile(form) for kind, _, form in _STARTS if form is not None}
_KEY_LABEL = b"PRIVATE KEY-----"
_KEY_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(r"(?:(?:\\+[nr]|\s)*+(?:[A-Za-z0-9+/=]{16,}+|[A-Z][A-Za-z-]{2,20}: [\w ,-]{1,80}))*+")
_LEAST_KEY_CHARACTERS = 40


def known_formats(scanned: Scanned) -> Iterator[Finding]:
    """Secrets of known form."""
    if _KEY_LABEL in scanned.plain:
        yield from _private_keys(scanned.text)
    for kind, start, form in _STARTS:
        if start not in scanned.plain:
            continue
        yield from _at_start(scanned, kind, start) if form is not None else _around(scanned, kind, start)
    for start, end in scanned.runs:
        for piece in _PIECE.finditer(scanned.text, start, end):
            if piece.start() < start:
                continue
            if piece[0][:3] in _HEADS and (found := _ANY_PREFIXED.match(scanned.text, piece.start())) is not None:
                yield Finding(found.start(), found.end(), found.lastgroup or "token")
                start = found.end()


def _at_start(scanned: Scanned, kind: str, start: bytes) -> Iterator[Finding]:
    for at in scanned.places(start):
        found = _AT_START[kind].match(scanned.text, at)
        if found is not None:
            yield Finding(*found.span(found.lastindex or 0), kind)


def _around(scanned: Scanned, kind: str, middle: bytes) -> Iterator[Finding]:
    before, form = _AROUND[kind]
    for at in scanned.places(middle):
        found = form.search(scanned.text, max(0, at - before), at + len(middle) + 100)
        if found is not None:
            yield Finding(found.start(), found.end(), kind)


def _private_keys(text: str) -> Iterator[Finding]:
    """PEM blocks with a body; a block that was cut off ends where its characters do."""
    begin = _KEY_BEGIN.search(text)
    while begin is not None:
        dashes = text.find("-----", begin.end())
        closes = dashes >= 0 and text.startswith("-----END", dashes)
        body = _KEY_BODY.match(text, begin.end())
        end = dashes if closes else body.end() if body else begin.end()
        if sum(map(str.isalnum, text[begin.end() : end])) >= _LEAST_KEY_CHARACTERS:
            last = text.find("-----", dashes + len("-----END")) if closes else -1
            yield Finding(begin.start(), last + len("-----") if last >= 0 else end, "private_key")
        begin = _KEY_BEGIN.search(text, end)
