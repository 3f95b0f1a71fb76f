"""What is taken for a secret and what is left alone, as tables; then what must hold for any text and any JSON.

The secrets are put together from parts here, so that no scanner takes this file for a leak.
"""

import json
import random
import string
from base64 import b64encode
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.contracts.redaction import JSON, Redactor

KEYED = Redactor(b"installation key")
KEYLESS = Redactor(None)

_RANDOM = random.Random(7)
_LETTERS = string.ascii_letters + string.digits


def _drawn(length: int) -> str:
    return "".join(_RANDOM.choices(_LETTERS, k=length - 3)) + "a7Q"


def _capitals(length: int) -> str:
    return "".join(_RANDOM.choices(string.ascii_uppercase + "234567", k=length - 1)) + "7"


def _hex(length: int) -> str:
    return "".join(_RANDOM.choices("0123456789abcdef", k=length))


_JWT = "eyJ" + _drawn(30) + ".eyJ" + _drawn(60) + "." + _drawn(43)
_PEM_BODY = "\n".join(_drawn(64) for _ in range(6))
_PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{_PEM_BODY}\n-----END RSA PRIVATE KEY-----"

BY_FORM = [
    ("aws_access_key_id", "AKIA" + _capitals(16)),
    ("github_token", "ghp_" + _drawn(36)),
    ("github_token", "gho_" + _drawn(36)),
    ("github_token", "github_pat_" + _drawn(22) + "_" + _drawn(59)),
    ("gitlab_token", "glpat-" + _drawn(20)),
    ("slack_token", "xoxb-" + "123456789012-1234567890123-" + _drawn(24)),
    ("slack_token", "xapp-1-" + "A0123456789-" + _drawn(40)),
    ("anthropic_key", "sk-ant-" + "api03-" + _drawn(90) + "-AA"),
    ("openai_key", "sk-" + _drawn(48)),
    ("openai_key", "sk-proj-" + _drawn(60)),
    ("openrouter_key", "sk-or-v1-" + _hex(64)),
    ("google_api_key", "AIza" + _drawn(35)),
    ("google_client_secret", "GOCSPX-" + _drawn(28)),
    ("google_oauth_token", "ya29." + _drawn(60)),
    ("stripe_key", "sk_live_" + _drawn(24)),
    ("stripe_key", "rk_test_" + _drawn(24)),
    ("stripe_key", "whsec_" + _drawn(32)),
    ("npm_token", "npm_" + _drawn(36)),
    ("pypi_token", "pypi-AgE" + "IcHlwaS5vcmc" + _drawn(60)),
    ("rubygems_token", "rubygems_" + _hex(48)),
    ("docker_token", "dckr_pat_" + _drawn(27)),
    ("twilio_key", "SK" + _hex(32)),
    ("sendgrid_key", "SG." + _drawn(22) + "." + _drawn(43)),
    ("mailgun_key", "key-" + _hex(32)),
    ("mailchimp_key", _hex(32) + "-us12"),
    ("huggingface_token", "hf_" + _drawn(34)),
    ("digitalocean_token", "dop_v1_" + _hex(64)),
    ("shopify_token", "shpat_" + _hex(32)),
    ("databricks_token", "dapi" + _hex(32)),
    ("linear_key", "lin_api_" + _drawn(40)),
    ("notion_token", "ntn_" + _drawn(46)),
    ("vault_token", "hvs." + _drawn(24)),
    ("grafana_token", "glsa_" + _drawn(32) + "_" + _hex(8)),
    ("sentry_token", "sntrys_" + _drawn(64)),
    ("postman_key", "PMAK-" + _hex(24) + "-" + _hex(34)),
    ("replicate_token", "r8_" + _drawn(37)),
    ("groq_key", "gsk_" + _drawn(52)),
    ("xai_key", "xai-" + _drawn(80)),
    ("perplexity_key", "pplx-" + _drawn(48)),
    ("supabase_token", "sbp_" + _hex(40)),
    ("figma_token", "figd_" + _drawn(40)),
    ("atlassian_token", "ATATT3" + _drawn(40)),
    ("newrelic_key", "NRAK-" + _capitals(27)),
    ("square_token", "sq0atp-" + _drawn(22)),
    ("facebook_token", "EAACEdEose0cBA" + _drawn(40)),
    ("age_secret_key", "AGE-SECRET-KEY-1" + _capitals(58)),
    ("tailscale_key", "tskey-auth-" + _drawn(12) + "-" + _drawn(30)),
    ("telegram_bot_token", "1234567890:AA" + _drawn(33)),
    ("azure_client_secret", "abc8Q~" + _drawn(34)),
    ("terraform_token", _drawn(14) + ".atlasv1." + _drawn(67)),
    ("doppler_token", "dp.pt." + _drawn(43)),
    ("jwt", _JWT),
    ("private_key", _PEM),
    ("private_key", _PEM.replace("\n", "\\n")),
    ("private_key", _PEM.partition("-----END")[0].rstrip()),
    ("high_entropy", _drawn(40)),
    ("high_entropy", "prod-" + _drawn(32)),
]

_HEX32, _B64_KEY = _hex(32), b64encode(_RANDOM.randbytes(64)).decode()
_AWS_SECRET = _drawn(20) + "/" + _drawn(19)

BY_LABEL = [
    ("password", "password=", "hunter2", ""),
    ("password", 'password: "', "correcthorse", '"'),
    ("password", "export DB_PASSWORD=", "sunshine", "\n"),
    ("password", "PGPASSWORD=", "s3cr3t!", " psql"),
    ("password", "SMTP_PASS=", "Tr0ub4dor&3".replace("&", "_"), ""),
    ("password", '{"user": "bob", "passwd": "', "tr0ub4dor", '"}'),
    ("password", '{\\"password\\": \\"', "tr0ub4dor", '\\"}'),
    ("password", "mysql --user root --password ", "tr0ub4dor", " db"),
    ("password", "mysql --password=", "tr0ub4dor", " db"),
    ("password", "curl -u bob:", "tr0ub4dor", " https://example.org"),
    ("password", "machine example.org login bob password ", "tr0ub4dor", ""),
    ("secret", "aws_secret_access_key = ", _AWS_SECRET, "\n"),
    ("secret", "api_key=", _HEX32, ""),
    ("secret", "apiKey: '", _HEX32, "',"),
    ("secret", "X-Api-Key: ", _HEX32, "\r\n"),
    ("secret", "?access_token=", _HEX32, "&x=1"),
    ("secret", "token: '", "test_9f8a7b6c5d4e", "'"),
    ("secret", "SECRET_KEY_BASE=", _hex(64), ""),
    ("secret", 'client_secret="', "a1b2-c3d4-e5f6", '"'),
    ("secret", "AccountName=x;AccountKey=", _B64_KEY, ";EndpointSuffix=y"),
    ("secret", "auth_token => '", "q8w7e6r5t4y3", "'"),
    ("authorization", "Authorization: Bearer ", "a1b2c3d4e5", ""),
    ("authorization", '"authorization": "Bearer ', _hex(40), '"'),
    ("authorization", "Authorization: Basic ", b64encode(b"bob:builder").decode(), ""),
    ("authorization", "Authorization: token ", _hex(40), ""),
    ("authorization", "sent Bearer ", _drawn(30), " to it"),
    ("url_password", "postgres://bob:", "builder", "@db.example.org:5432/app"),
    ("url_password", "https://bob:", "p%40ss", "@example.org/x"),
    ("url_password", "redis://:", "builder", "@localhost:6379"),
    ("url_password", "git clone https://", _hex(40), "@example.org/x.git"),
    ("slack_webhook", "https://hooks.slack.com/services/", "T00000000/B00000000/" + _drawn(24), ""),
    ("azure_sas_signature", "?sv=2022&sig=", _drawn(43) + "%3D", "&se=2030"),
]

LEFT_ALONE = [
    "",
    "abc",
    _hex(40),
    _hex(64).upper(),
    "d41d8cd98f00b204e9800998ecf8427e",
    "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "123e4567-e89b-12d3-a456-426614174000",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    '"integrity": "sha512-' + b64encode(_RANDOM.randbytes(64)).decode() + '"',
    "integrity sha512-" + b64encode(_RANDOM.randbytes(64)).decode(),
    "github.com/x/y v1.2.3 h1:" + b64encode(_RANDOM.randbytes(32)).decode(),
    "package/file.py,sha256=" + _drawn(43) + ",1234",
    "--hash=sha256:" + _hex(64),
    "SHA256:" + _drawn(43),
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + _drawn(43) + " bob@host",
    "-----BEGIN CERTIFICATE-----\n" + "\n".join(_drawn(64) for _ in range(4)) + "\n-----END CERTIFICATE-----",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    'if "-----BEGIN PRIVATE KEY-----" in text: return load_pem_private_key(text)',
    "data:image/png;base64," + b64encode(_RANDOM.randbytes(300)).decode(),
    "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
    b64encode(b"just some plain text in base64, nothing secret").decode(),
    "toolu_01A09q90qw90lq917835lq9",
    "call_cyI71DYnRdoLHWwtZgIaW2wr",
    "chatcmpl-9XyZ12AbCd34EfGh56IjKl78MnOp",
    "msg_013Zva2CMHLNnjNjtJKcsRoC",
    '"signature": "' + _drawn(88) + '"',
    "https://www.youtube.com/channel/UCogrSQkBJn1KF0N9I4oM7eQ/",
    "https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
    "https://example.org:8080/path?x=1#frag@home",
    "postgres://localhost/app",
    "postgres://$USER:$PASSWORD@host/db",
    "https://user:<password>@example.org",
    "git@github.com:owner/repo.git",
    "/usr/local/lib/python3.11/site-packages/pydantic_core/_pydantic_core.cpython-311-x86_64-linux-gnu.so",
    "node_modules/@babel/plugin-transform-modules-commonjs/lib/index.js",
    "assets/index-DiwrgTda9XyZ12AbCd34Ef.js",
    "test_returns_401_When_Token_is_missing_2 PASSED",
    "testDebugUnitTestCoverageVerificationForVariant2Release",
    "getAccessTokenSilentlyWithPopupV2Experimental",
    "AbstractSingletonProxyFactoryBean2ImplTest3",
    "function e(t,n){return t.a1B2=n,e.prototype.c3D4(t)}",
    "SOME_VERY_LONG_CONSTANT_NAME_42_FOR_TESTS",
    "token = tokens.pop()",
    "token = self.tokenizer.next_token()",
    "self.password = password",
    "def login(user: str, password: str) -> None:",
    "password: string;",
    'password = os.environ["DB_PASSWORD"]',
    "password = getpass.getpass()",
    "api_key=settings.OPENAI_API_KEY",
    'api_key="your-api-key-here"',
    "API_KEY=${API_KEY}",
    "PASSWORD=<your password>",
    "password=********",
    "'password': 'required|min:8'",
    '{"type": "password", "name": "password"}',
    '"passwordLabel": "Enter your password"',
    '"max_tokens": 4096, "total_tokens": 12345',
    "max_tokens=4096",
    "token_type: bearer",
    'if token == "identifier":',
    'secret_name = "my-service-secret"',
    "primary_key=True",
    "key: value",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "the Bearer authentication scheme is described in section 2",
    "basic understanding of authorization",
    "PWD=/home/bob/project1",
    "OLDPWD: /home/bob/project1",
    "curl --user $USER:$PASS https://example.org",
    "docker run --user 1000:1000 -u root:root image",
    "sk-learn is not scikit-learn-1.2.3",
    "eyJ is how a JSON object starts in base64",
    "[redacted:github_token:0123456789ab]",
    "password=[redacted:password:0123456789ab]",
    "[redacted:password]",
    "Пароль: не задан, токен отсутствует",
    "密码必须至少8个字符",
]


@pytest.mark.parametrize(("kind", "secret"), BY_FORM)
@pytest.mark.parametrize("frame", ["{}", "see {} here", '{{"x": "{}"}}', "x={}\n", "`{}`", "до {} после"])
def test_known_forms(kind: str, secret: str, frame: str) -> None:
    text, kinds = KEYED.redact_text(frame.format(secret))
    before, _, after = frame.replace("{{", "{").replace("}}", "}").partition("{}")
    assert text.startswith(f"{before}[redacted:{kind}:")
    assert text.endswith(f"]{after}")
    assert dict(kinds) == {kind: 1}


@pytest.mark.parametrize(("kind", "before", "secret", "after"), BY_LABEL)
def test_labelled_values(kind: str, before: str, secret: str, after: str) -> None:
    text, kinds = KEYED.redact_text(before + secret + after)
    fingerprint = text.removeprefix(f"{before}[redacted:{kind}:").removesuffix(f"]{after}")
    assert len(fingerprint) == 12, text
    assert dict(kinds) == {kind: 1}


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_left_alone(text: str) -> None:
    assert KEYED.redact_text(text) == (text, {})
    assert KEYED.redact({"x": [text]}) == ({"x": [text]}, {})


def test_equal_secrets_have_one_fingerprint_under_one_key() -> None:
    secret = "ghp_" + _drawn(36)
    one, _ = KEYED.redact_text(f"a {secret} b")
    two, _ = KEYED.redact_text(f"token={secret}")
    assert one[2:-2] == two.removeprefix("token=")
    assert Redactor(b"another key").redact_text(f"a {secret} b")[0] != one
    assert secret not in one


def test_without_a_key_there_is_no_fingerprint() -> None:
    assert KEYLESS.redact_text("password=hunter2") == ("password=[redacted:password]", {"password": 1})
    first, second = "ghp_" + _drawn(36), "ghp_" + _drawn(36)
    assert KEYLESS.redact({first: 1, second: 2})[0] == {"[redacted:github_token]": 1, "[redacted:github_token]#2": 2}


def test_the_key_is_not_shown() -> None:
    assert "installation" not in repr(KEYED)


def test_values_of_labelled_keys_are_judged_whole() -> None:
    secret = _drawn(20)
    value: JSON = {
        "password": "sunshine",
        "credentials": {"clientSecret": secret, "username": "bob", "password": ""},
        "env": [{"name": "API_KEY", "value": secret}, {"name": "MODE", "value": "production"}],
        "argv": ["login", "--password", "sunshine", "--user", "bob"],
        "headers": {"Authorization": f"Bearer {secret}", "X-Request-Id": secret + secret},
        "schema": {"password": {"type": "string", "description": "The password"}},
        "max_tokens": 100,
        "tokens": [1, 2.5, None, True],
    }
    redacted, kinds = KEYLESS.redact(value)
    assert redacted == {
        "password": "[redacted:password]",
        "credentials": {"clientSecret": "[redacted:secret]", "username": "bob", "password": ""},
        "env": [{"name": "API_KEY", "value": "[redacted:secret]"}, {"name": "MODE", "value": "production"}],
        "argv": ["login", "--password", "[redacted:password]", "--user", "bob"],
        "headers": {"Authorization": "Bearer [redacted:authorization]", "X-Request-Id": secret + secret},
        "schema": {"password": {"type": "string", "description": "The password"}},
        "max_tokens": 100,
        "tokens": [1, 2.5, None, True],
    }
    assert kinds == {"password": 2, "secret": 2, "authorization": 1}
    assert isinstance(redacted, dict)
    assert list(redacted) == list(value)


def test_ids_in_objects_are_left_alone_and_the_same_text_elsewhere_is_not() -> None:
    drawn = _drawn(40)
    assert KEYLESS.redact({"requestId": drawn, "note": drawn})[0] == {
        "requestId": drawn,
        "note": "[redacted:high_entropy]",
    }


def _innermost(value: JSON) -> JSON:
    while isinstance(value, list):
        value = value[0]
    return value


def test_nesting_of_any_depth_is_read_and_the_given_value_is_kept() -> None:
    value: JSON = "password=hunter2"
    for _ in range(20_000):
        value = [value]
    redacted, kinds = KEYED.redact(value)
    assert kinds == {"password": 1}
    redacted, value = _innermost(redacted), _innermost(value)
    assert isinstance(redacted, str)
    assert redacted.startswith("password=[redacted:password:")
    assert value == "password=hunter2"


def test_the_fields_around_a_secret_stay_readable() -> None:
    line = json.dumps(
        {"role": "tool", "content": f"DB_PASSWORD=hunter2\nOPENAI={'sk-' + _drawn(48)}\n", "id": "toolu_01A"}
    )
    text, kinds = KEYED.redact_text(line)
    assert json.loads(text)["content"].startswith("DB_PASSWORD=[redacted:password:")
    assert kinds == {"password": 1, "openai_key": 1}


_BITS = st.lists(
    st.sampled_from(
        [
            "password=",
            "token: ",
            '"secret": "',
            "hunter2",
            '"',
            "'",
            " ",
            "\n",
            "\\",
            "://",
            "bob:",
            "@",
            "Bearer ",
            "eyJ",
            ".",
            "ghp_",
            "AKIA",
            "a1B2c3D4e5F6g7H8",
            "[redacted:",
            "[redacted:password:0123456789ab]",
            "]",
            "-----BEGIN ",
            "PRIVATE KEY-----",
            "-----END ",
            "/",
            "+",
            "=",
            "\0",
            "\ud800",
            "İ",
            "ключ",
            "--password ",
            " -u ",
            "-us1",
            *(secret for _, secret in BY_FORM[:12]),
        ]
    ),
    max_size=12,
).map("".join)
_TEXTS = st.one_of(st.text(), _BITS)
_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), _TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_TEXTS, inner, max_size=4)),
    max_leaves=12,
)


@settings(max_examples=400)
@given(_TEXTS)
def test_redacting_a_text_again_changes_nothing(text: str) -> None:
    for redactor in (KEYED, KEYLESS):
        once, _ = redactor.redact_text(text)
        assert redactor.redact_text(once) == (once, {})


@given(_JSON)
def test_redacting_json_again_changes_nothing(value: JSON) -> None:
    for redactor in (KEYED, KEYLESS):
        once, kinds = redactor.redact(value)
        assert redactor.redact(once) == (once, {})
        assert bool(kinds) == (once != value)


@given(_BITS, st.sampled_from(BY_FORM), st.sampled_from([" ", "\n", '"', "`", ", ", ";"]))
def test_a_known_form_is_found_in_any_surroundings(around: str, form: tuple[str, str], mark: str) -> None:
    kind, secret = form
    # a secret run together with other letters is no longer of its form
    if kind != "high_entropy" and "-----" not in around and secret not in around:
        text, _ = KEYED.redact_text(f"{around}{mark}{secret}{mark}{around}")
        assert secret not in text


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "A1",
        "aB3",
        "password=",
        "password='",
        'token="\\',
        "://",
        "://a:",
        "://" + "a" * 99,
        "eyJ",
        "eyJaaaaaaaa.",
        "SG.a",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----A",
        "-",
        "=",
        "[redacted:",
        "[redacted:a]",
        "bearer ",
        "Bearer a1",
        "sk-",
        "sk-ant-",
        "key",
        "api_key: ",
        " -u a:",
        "login a ",
        "8Q~",
        ":AA",
        ".atlasv1.",
        "hvs.",
        "ghp_",
        "\u0130",
        "a/",
        "aB3/",
        "secret ",
        "a1B2c3D4e5F6g7H8 ",
        "xoxb-1-",
        "sig=",
        "-us1",
        "base64,",
        "\\\\\\\\",
    ],
)
def test_hostile_text_is_read_to_its_end(piece: str) -> None:
    _redact_whole(piece, length=200_000)


@pytest.mark.parametrize("piece", ["password='", "sig=", "-us1", ":AA", "a1B2c3D4e5F6g7H8 ", "xoxb-1-", "aB3/"])
def test_a_megabyte_of_the_slowest_is_read_to_its_end(piece: str) -> None:
    _redact_whole(piece, length=1_000_000)


def _redact_whole(piece: str, length: int) -> None:
    """A form that tries again and again would not come to the end of this, nor see the secret that stands there."""
    secret = "ghp_Zq7Rk2Wv9Lx4Tn8Bm1Yc5Hd3Jf6Gs0Pa2Qe"
    text = (piece * (length // len(piece) + 1))[:length]
    assert secret not in KEYED.redact_text(f"{text}\n\n{secret}")[0]


@pytest.mark.shared
def test_real_transcripts_hold_no_false_finding(shared_data: Path) -> None:
    paths = [path for path in sorted((shared_data / "trajectories").rglob("*")) if path.is_file()]
    assert paths
    found = {
        path.name: dict(kinds) for path in paths if (kinds := KEYED.redact_text(path.read_text(errors="replace"))[1])
    }
    assert found == {}
