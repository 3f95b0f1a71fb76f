"""Which sentences make a statement worth keeping, and which do not: a table both ways, in two languages."""

from __future__ import annotations

import pytest

from domain.extraction.resolve import Setting
from domain.extraction.segment import Sentence, sentences
from domain.extraction.statements import Refused, Statement, alike, content, state

STATED = [
    ("`npm ci` fails on Node 20 because `node-sass` does not support it.", "incompatibility"),
    ("The `KeyError` of `load` is due to a byte order mark in `march.csv`.", "cause"),
    ("`pytest-asyncio` 0.23 is incompatible with `pytest` 8.4.", "incompatibility"),
    ("Migrations must run before `seed_demo`, or the foreign keys are missing.", "constraint"),
    ("Setting `PYTHONHASHSEED` does not help with the flaky `test_order`.", "negative_result"),
    ("`asyncio.run` cannot be called from a running event loop in `worker.py`.", "constraint"),
    ("Root cause: `connect` in `db/pool.py` never closes its cursor, so the pool is exhausted.", "consequence"),
    ("It turned out that `load_config` silently ignores unknown keys.", "behaviour"),
    ("The fix is to pass `utf-8-sig` to `open_csv` because spreadsheets write a byte order mark.", "cause"),
    ("We decided to keep `Decimal` in `ledger/money.py` because of the reports.", "decision"),
    ("`Tariff` loses cents because `rates.py` divides whole numbers.", "cause"),
    ("`WebAuthn` works in Safari but does not work in the WebView of `Tauri`.", "incompatibility"),
    ("`--no-sandbox` is required for `chromium` in containers.", "constraint"),
    ("`session.commit` must not be called inside `on_flush`.", "constraint"),
    ("Retrying has no effect because `RateLimiter` counts failed calls too.", "negative_result"),
    ("Confirmed: `useEffect` runs twice in development due to `StrictMode`.", "cause"),
    ("The error `ECONNREFUSED` is caused by `redis-server` listening on IPv6 only.", "cause"),
    ("Next.js 15 requires `params` to be awaited in `page.tsx`.", "constraint"),
    ("Go 1.22 changes loop variables, so `TestParallel` sees each value once.", "consequence"),
    ("Use `utf-8-sig` in `load_csv`, because spreadsheets write a byte order mark.", "cause"),
    ("`moduleNameMapper` is ignored when `projects` is set in `jest.config.js`.", "negative_result"),
    ("The issue was that `apply_tax` in `tax.py` rounds the net amount before it is summed.", "behaviour"),
    ("The cause is `apply_tax` in `tax.py`, which rounds the net amount first.", "cause"),
    ("`useSession` is empty at first because `SessionProvider` is mounted below `Router`.", "cause"),
    ("The Docker build needs `NODE_OPTIONS`, otherwise `vite build` runs out of memory.", "constraint"),
    ("`COPY FROM` is refused under row-level security by `psycopg`.", "constraint"),
    ("`workflow.now` returns the time of the last task, not the wall clock.", "behaviour"),
    ("If `CACHE_TTL` is zero, `fetch_rates` falls back to a stale file.", "behaviour"),
    (
        "`WebAuthn` работает в Safari/Firefox, но не работает в текущем macOS WebView runtime `Tauri`.",
        "incompatibility",
    ),
    ("Проблема с `navigator.credentials` возникает только в WebView.", "incompatibility"),
    ("Причиной ошибки `NotAllowedError` является несовместимость `webauthn-rs` и WebView.", "incompatibility"),
    ("`Codec.decode` expects bytes in `wire.py`.", "constraint"),
    ("`watch_all` only checks the size of `state.bin`.", "constraint"),
    ("OK, so the `Frame` class doesn’t implement `reset()`!", "behaviour"),
    ("The Frame component caches its palette in `this.paint`.", "behaviour"),
    ("`to_json` uses `repr` instead of `str` for keys.", "behaviour"),
    ("`first_of` takes a list, but only its head is put into `$row`.", "behaviour"),
    ("The `Queue` class does not flush on exit, so when `stop_all` is called the last job is lost.", "consequence"),
    ("`pick` читает `sizes.csv`, но не `prices.csv` при старте.", "behaviour"),
    ("Для этого проекта нельзя использовать механизм `iframe-bridge`.", "constraint"),
    ("Изменение `schema.sql` необходимо делать до `seed.sql`.", "constraint"),
    ("Причина падения `test_report` в том, что `load_csv` читает файл без `utf-8-sig`.", "cause"),
    ("Оказалось, что `round_cents` округляет половину цента вниз, поэтому итог меньше.", "consequence"),
    ("`make seed` нельзя запускать дважды, потому что `accounts.id` уникален.", "cause"),
    ("`git-lfs` не поддерживается образом `runner-slim`.", "incompatibility"),
]
REFUSED = [
    ("I'll run the tests now because `conftest.py` changed.", "plan"),
    ("Let me check why `fields.py` fails because of that.", "plan"),
    ("This fails because `config.yaml` is missing.", "no_subject"),
    ("The bug is caused by a missing colon in `division.py`.", "no_subject"),
    ("It is caused by `foo_bar` being None.", "no_subject"),
    ("There must be a typo in `money.py` somewhere.", "no_subject"),
    ("`load_csv` cannot read the current file because of `utf-8-sig`.", "passing_detail"),
    ("`load_csv` might fail because of `utf-8-sig`.", "hedged"),
    ("`load_csv` is likely broken due to a missing colon.", "hedged"),
    ("I think `load_csv` fails because `path_name` is None.", "hedged"),
    ("`setup_all` should be called before `load_csv` because of the cache.", "hedged"),
    ("Does `load_csv` fail because of `utf-8-sig`?", "question"),
    ("`load_csv` fails because of the following:", "unfinished"),
    ("Great, `load_csv` works because of `utf-8-sig`.", "courtesy"),
    ("Sorry, `load_csv` cannot be read by everybody.", "courtesy"),
    ("Added `multiply_numbers` because the tests require it.", "progress"),
    ("All tests pass because `conftest.py` is fixed.", "progress"),
    ("`PAGE_SIZE` has been changed because the report must show more.", "progress"),
    ("If this fails, `retry_all` is called because of the timeout.", "hypothetical"),
    ("Your reservation `gift_card_8190333` cannot be used because it expired.", "narrative"),
    ("Reservation S61CZX cannot be canceled because it has no insurance.", "no_name"),
    ("Flight HAT271 on 2024-05-10 cannot be booked because it is full.", "no_name"),
    ("Commit `93bff95` must be reverted because of the release.", "no_name"),
    ("Basic economy flights cannot be modified after booking.", "no_name"),
    ("`~/x/test.txt` cannot be read because it is missing.", "passing_detail"),
    ("`next-dev` on localhost:3001 cannot be reached because it is down.", "passing_detail"),
    ("`fields.py` rounds wrong on line 1475 because of the division.", "passing_detail"),
    ("Now `load_csv` fails because of `utf-8-sig`.", "passing_detail"),
    ("We added a `toggle_mode` function because people asked for it.", "narrative"),
    ("To do: fix `load_csv` because it fails on Windows.", "plan"),
    ("See `README.md` because everything is explained in it.", "instruction"),
    ("Use `utf-8-sig` with `load_csv` always.", "advice"),
    ("`menu.ts` has an old implementation with `paint` instead of `theme`.", "passing_detail"),
    ("Replaced `paint` in `menu.ts` with `theme` instead of a function.", "progress"),
    ("I used `theme` in `menu.ts` instead of `paint`.", "narrative"),
    ("Uses `theme` in `menu.ts` instead of `paint`.", "no_subject"),
    ("`menu.ts` now uses `theme` instead of `paint`.", "progress"),
    ("`menu_all` has been updated to use `theme`, which should fix the colours.", "hedged"),
    ("Business class seats cannot be changed, so the fee does not apply.", "no_name"),
    ("That was wrong: `apply_tax` does not support rates at all.", "retraction"),
    ("`apply_tax` lives in `ledger/tax.py` with the rates.", "no_cue"),
    ("`foo_bar` must wait.", "length"),
    ("TypeError: cannot pickle 'dict_keys' object here", "raw_message"),
    ("Cannot pickle `dict_keys` because of the lock.", "no_subject"),
    ("AddTodo (`components/AddTodo.tsx`) - input form that prevents empty todos.", "definition"),
    ("Временно отключил `test_report`, потому что он падает.", "progress"),
    ("Возможно, `load_csv` падает из-за `utf-8-sig`.", "hedged"),
    ("Сейчас проверю, почему `load_csv` не работает.", "plan"),
    ("Это не работает из-за `utf-8-sig` в файле.", "no_subject"),
]


def said(text: str) -> Statement | Refused:
    first, *_ = sentences(text)
    return state(first)


@pytest.mark.parametrize(("text", "rule"), STATED)
def test_a_statement_is_found_by_its_rule(text: str, rule: str) -> None:
    found = said(text)
    assert isinstance(found, Statement), found
    assert found.rule == rule
    assert found.names


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_no_statement_for_a_named_reason(text: str, reason: str) -> None:
    assert said(text) == Refused(reason)


@pytest.mark.parametrize(
    ("text", "proposition"),
    [
        (
            "**Root cause:** invoices are short because `round_cents` rounds down.",
            "Invoices are short because `round_cents` rounds down.",
        ),
        ("It turns out that `load_csv` silently drops empty rows.", "`load_csv` silently drops empty rows."),
        ("The cause is `apply_tax` in `tax.py`, which rounds too early.", "`apply_tax` in `tax.py` rounds too early."),
        ("So, the issue was that `load_csv` never closes its file.", "`load_csv` never closes its file."),
    ],
)
def test_openings_are_no_part_of_the_proposition(text: str, proposition: str) -> None:
    found = said(text)
    assert isinstance(found, Statement), found
    assert found.proposition == proposition
    assert found.concluding


def test_a_pronoun_is_resolved_by_the_sentence_before_it_only() -> None:
    found = state(
        Sentence("It ignores every input after `head_row`."), Setting("The `trim_all` function is quite short.")
    )
    assert isinstance(found, Statement)
    assert found.proposition == "The `trim_all` function ignores every input after `head_row`."
    assert state(Sentence("It ignores every input after `head_row`."), Setting("That is quite short.")) == Refused(
        "no_subject"
    )


def test_content_is_what_remains_without_binding_words() -> None:
    one, other = (
        "The invoice totals are short because `f(x)` rounds.",
        "Invoice totals are short, because `f(x)` rounds",
    )
    assert content(one) == content(other)
    assert content("`a` calls `b`") != content("`b` calls `a`")
    assert alike(one, other) == 1.0
    assert alike(one, "Nothing of the kind `g(y)`") < 0.2
