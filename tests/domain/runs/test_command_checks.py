"""Which command lines are checks: a table both ways, then what must hold for any text."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.runs.commands.checks import checks, checks_argv
from domain.runs.commands.classify import classify
from domain.runs.commands.kinds import CheckKind
from domain.runs.commands.shell import NotSimple, ParsedCommand, parse

ONE_CHECK = [
    ("pytest", "test"),
    ("pytest -q tests/foo", "test"),
    ("python -m pytest tests/test_math_utils.py -v", "test"),
    ("python3.11 -m unittest discover", "test"),
    (".venv/bin/python -W error -m pytest", "test"),
    ("/usr/local/bin/pytest -n 4", "test"),
    ("tox -e py311", "test"),
    ("nox -s tests", "test"),
    ("coverage run -m pytest", "test"),
    ("poetry run pytest -x", "test"),
    ("uv run --extra dev pytest", "test"),
    ("uv run -m pytest", "test"),
    ("pipenv run python -m pytest", "test"),
    ("hatch run test", "test"),
    ("python manage.py test app", "test"),
    ("python setup.py test", "test"),
    ("./runtests.sh", "test"),
    ("bash scripts/run_tests.sh", "test"),
    ("npm test", "test"),
    ("npm t -- --reporter dot", "test"),
    ("npm run test:unit", "test"),
    ("npm run -s lint", "lint"),
    ("npm run build -w @scope/pkg", "build"),
    ("npm run check", "check"),
    ("npm run check-types", "typecheck"),
    ("yarn test", "test"),
    ("yarn run build", "build"),
    ("yarn workspace api test", "test"),
    ("pnpm --filter web lint", "lint"),
    ("pnpm exec vitest run", "test"),
    ("bun test", "test"),
    ("bunx tsc --noEmit", "typecheck"),
    ("npx jest --ci", "test"),
    ("npx --yes -p typescript tsc", "build"),
    ("npx tsc --noEmit --skipLibCheck", "typecheck"),
    ("npx @biomejs/biome check src", "check"),
    ("./node_modules/.bin/eslint src", "lint"),
    ("node node_modules/.bin/jest", "test"),
    ("node --test", "test"),
    ("jest --watch=false", "test"),
    ("mocha test/*.js", "test"),
    ("deno test -A", "test"),
    ("tsc", "build"),
    ("tsc -p tsconfig.json --noEmit", "typecheck"),
    ("eslint 'src/**/*.ts'", "lint"),
    ("prettier --check .", "lint"),
    ("black --check src", "lint"),
    ("ruff check .", "lint"),
    ("ruff format --check", "lint"),
    ("flake8", "lint"),
    ("mypy --strict src", "typecheck"),
    ("pyright", "typecheck"),
    ("pre-commit run --all-files", "check"),
    ("python -m build", "build"),
    ("python -m compileall src", "check"),
    ("go test ./...", "test"),
    ("go test -run TestX -v ./pkg", "test"),
    ("go vet ./...", "vet"),
    ("go build ./cmd/app", "build"),
    ("golangci-lint run", "lint"),
    ("cargo test 2>&1", "test"),
    ("cargo +nightly test --release", "test"),
    ("cargo test --no-run", "build"),
    ("cargo build --release", "build"),
    ("cargo check", "check"),
    ("cargo clippy -- -D warnings", "lint"),
    ("cargo fmt -- --check", "lint"),
    ("cargo nextest run", "test"),
    ("cargo llvm-cov --fail-under-lines 100 2>&1", "test"),
    ("make test", "test"),
    ("make -j 4 check", "check"),
    ("make lint V=1", "lint"),
    ("make clean test", "test"),
    ("just lint 2>&1", "lint"),
    ("task build", "build"),
    ("ninja", "build"),
    ("ninja -C build test", "test"),
    ("cmake --build build", "build"),
    ("ctest --output-on-failure", "test"),
    ("mvn -q clean verify", "test"),
    ("mvn package -DskipTests", "build"),
    ("./mvnw test", "test"),
    ("gradle :app:testDebugUnitTest", "test"),
    ("./gradlew build -x test", "build"),
    ("./gradlew ktlintCheck", "check"),
    ("dotnet test", "test"),
    ("dotnet build -c Release", "build"),
    ("bundle exec rspec spec/models", "test"),
    ("bundle exec rake test", "test"),
    ("bin/rails test", "test"),
    ("rubocop", "lint"),
    ("php artisan test", "test"),
    ("vendor/bin/phpunit", "test"),
    ("composer test", "test"),
    ("mix test", "test"),
    ("mix format --check-formatted", "lint"),
    ("bazel test //...", "test"),
    ("swift build", "build"),
    ("zig build test", "test"),
    ("flutter analyze", "lint"),
    ("shellcheck run.sh", "lint"),
    ("bash -n deploy.sh", "check"),
    ("terraform validate", "check"),
    ("terraform fmt -check", "lint"),
    ("helm lint charts/app", "lint"),
    ("docker build -t app .", "build"),
    ("nx run-many -t test", "test"),
    ("turbo run lint", "lint"),
    # the exit code of the line is the check's own
    ("time pytest", "test"),
    ("timeout 60 pytest", "test"),
    ("timeout -k 5 60s nice -n 10 make test", "test"),
    ("sudo -u ci make test", "test"),
    ("CI=1 npm test", "test"),
    ("env -C api CI=1 npm test", "test"),
    ("(cd api && npm test)", "test"),
    ("{ pytest; }", "test"),
    ("bash -c 'cd api && npm test'", "test"),
    ('sh -lc "go vet ./..."', "vet"),
    ("bash -o pipefail -c 'pytest | tail -5'", "test"),
    ("set -o pipefail; pytest | tee log", "test"),
    ("set -euo pipefail\npytest | tail", "test"),
    ("pytest > out.log 2>&1", "test"),
    ("pytest &> out.log < /dev/null", "test"),
    ("pytest # the fast ones", "test"),
    ("pytest \\\n  -x", "test"),
    ("echo start; pytest", "test"),
    ("pytest && echo passed", "test"),
    ("npm ci && npm test", "test"),
    ("source .venv/bin/activate && pytest", "test"),
    ("[ -d api ] && pytest", "test"),
    ("[[ -d a && -d b ]] && pytest", "test"),
    ("npm ci || npm install && npm test", "test"),
    ("python server.py & pytest", "test"),
    ("cat > a.py <<'EOF'\nit's || broken `\nEOF\npytest", "test"),
    ("git commit -m \"$(cat <<'EOF'\nDon't stop\nEOF\n)\" && pytest", "test"),
    ("PYTHONPATH=$PWD/src:$PYTHONPATH pytest", "test"),
]

NO_CHECK = [
    "echo test",
    "echo 'npm test'",
    "cat test.log",
    "git checkout",
    "git checkout test",
    "git commit -m 'make test pass'",
    "grep test",
    "grep -rn pytest .",
    "ls test",
    "test -f x",
    "[ -f test ]",
    "/usr/bin/test -f x",
    "true",
    "",
    "   ",
    "# pytest",
    "cd tests",
    "mkdir build",
    "rm -rf build",
    "build",
    "lint",
    "tail -f test.log",
    "python test.py",
    "python tests/missing_colon.py",
    "python -c 'import pytest'",
    "python -m http.server",
    "python -m pip install pytest",
    "pip install pytest",
    "npm install",
    "npm ci",
    "npm run",
    "npm run dev",
    "npm run lint:fix",
    "npm run test:watch",
    "npm run test --if-present",
    "npm start",
    "npm install --save-dev jest",
    "yarn",
    "yarn add eslint",
    "yarn lint --fix",
    "npx create-next-app@latest todo-app --eslint",
    "npx prettier --write .",
    "pnpm install",
    "go run ./test",
    "go mod tidy",
    "go test -list .",
    "cargo run",
    "cargo init --lib",
    "cargo install cargo-llvm-cov",
    "cargo fmt",
    "cargo clippy --fix",
    "cargo llvm-cov report",
    "cargo test -- --list",
    "make",
    "make install",
    "make test-data",
    "make clean",
    "black .",
    "isort .",
    "ruff format",
    "ruff check --fix .",
    "ruff check --exit-zero",
    "flake8 --exit-zero",
    "eslint --fix src",
    "golangci-lint run --issues-exit-code 0",
    "terraform plan",
    "terraform fmt",
    "helm install lint",
    "docker run app pytest",
    "ssh host pytest",
    "xargs pytest",
    "watch pytest",
    # asked for something else
    "pytest --help",
    "pytest -h",
    "pytest --version",
    "pytest --collect-only",
    "pytest --co -q",
    "tsc --version",
    "tsc -v",
    "tsc --watch",
    "tsc --init",
    "make -n test",
    "make -Bn test",
    "make --dry-run test",
    "make -i test",
    "gradle test --dry-run",
    "npm test -- --watch",
    "jest --watch",
    "jest -u",
    "vitest watch",
    "tox -l",
    "ctest -N",
    "rspec --dry-run",
    "mvn --version",
    "command -v pytest",
    "env -i pytest",
    # the exit code of the line is not the check's own
    "pytest | tail",
    "pytest 2>&1 | tee log",
    "cargo test 2>&1 | grep -v warning",
    "cd packages/coding-agent && npm run check 2>&1 | tail -5",
    "pytest || true",
    "pytest || echo failed",
    "cd api && pytest || true",
    "pytest; echo done",
    "pytest\necho $?",
    "pytest; exit 0",
    "exit 0; pytest",
    "[ -d x ] || exit 0; pytest",
    "trap 'exit 0' EXIT; pytest",
    "pytest &",
    "pytest & wait",
    "! pytest",
    "if pytest; then echo ok; fi",
    "for t in a b; do pytest $t; done",
    "while ! pytest; do sleep 1; done",
    "pytest() { true; }; pytest",
    "bash -c 'pytest || true'",
    "bash -c 'pytest | tail'",
    "set -o pipefail; bash -c 'pytest | tail'",
    "set -o pipefail; set +o pipefail; pytest | tail",
    "(pytest; true)",
    "true && set -o pipefail; pytest | tail",
    # what ran is only known when it runs
    "$(which pytest)",
    "pytest $(git diff --name-only)",
    "pytest `cat failing`",
    "pytest $ARGS",
    "pytest ${ARGS:-tests}",
    "pytest <(echo x)",
    "X=$(date) pytest",
    'bash -c "$CMD"',
    "eval pytest",
    'cd "$(git rev-parse --show-toplevel)" && pytest',
    "cd $REPO && pytest",
    "cd - && pytest",
    "cd api; pytest",
    "cd api || cd .. ; pytest",
    "! cd api; pytest",
    "{ pytest && set -e; }; make lint && true; true",
    "! cd api || true && pytest",
    "shellcheck - < a.sh",
    "bash <<EOF\npytest\nEOF",
    "shellcheck - <<'EOF'\necho\nEOF",
    # broken
    "pytest 'tests",
    'pytest "tests',
    "pytest `x",
    "pytest && ",
    "&& pytest",
    "pytest >",
    "(pytest",
    "pytest)",
    "pytest ;; true",
    "pytest \0",
]


@pytest.mark.parametrize(("command", "kind"), ONE_CHECK)
def test_is_one_check(command: str, kind: str) -> None:
    assert [check.kind for check in checks(command, "repo")] == [CheckKind(kind)]


@pytest.mark.parametrize("command", NO_CHECK)
def test_is_no_check(command: str) -> None:
    assert checks(command, "repo") == ()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("npm run lint && npm test", [("npm run lint", "repo"), ("npm test", "repo")]),
        ("cd x && npm test", [("npm test", "repo/x")]),
        ("cd x && make lint && cd ../y && make test", [("make lint", "repo/x"), ("make test", "repo/y")]),
        ("make -C sub lint", [("make lint", "repo/sub")]),
        ("make -Csub lint", [("make lint", "repo/sub")]),
        ("make lint --directory=sub/", [("make lint", "repo/sub")]),
        ("cd sub && make -C ../other lint", [("make lint", "repo/other")]),
        ("npm --prefix web test", [("npm test", "repo/web")]),
        ("npm test -- --prefix web", [("npm test -- --prefix web", "repo")]),
        ("pnpm -C web test", [("pnpm test", "repo/web")]),
        ("cd /abs/path && pytest", [("pytest", "/abs/path")]),
        ("cd ~/code && pytest", [("pytest", "~/code")]),
        ("cd $HOME/code && pytest", [("pytest", "~/code")]),
        ('cd "$PWD/api" && pytest', [("pytest", "repo/api")]),
        ("cd ./x/../. && pytest", [("pytest", "repo")]),
        ("cd .. && pytest", [("pytest", ".")]),
        ("cd ../.. && pytest", [("pytest", "..")]),
        ("pushd 'my dir' && pytest", [("pytest", "repo/my dir")]),
        ("(cd x && make lint) && make test", [("make lint", "repo/x"), ("make test", "repo")]),
        ("cd x; cd /repo && pytest", [("pytest", "/repo")]),
        ("set -e; cd x; make lint; make test", [("make lint", "repo/x"), ("make test", "repo/x")]),
        ("set -e; make lint && true; make test", [("make test", "repo")]),
        ("bash -ec 'cd x; make lint; make test'", [("make lint", "repo/x"), ("make test", "repo/x")]),
        ("(set -e; make lint; make test) && true", [("make test", "repo")]),
        ("B=2 A='x y' pytest", [("pytest", "repo [A='x y' B=2]")]),
        ("A=1 env A=2 pytest", [("pytest", "repo [A=2]")]),
        ("export CI=1 && cd x && pytest", [("pytest", "repo/x [CI=1]")]),
        ("CI=1; pytest", [("pytest", "repo [CI=1]")]),
        ("CI=1 true && pytest", [("pytest", "repo")]),
        ("PATH=$HOME/bin:$PATH pytest", [("pytest", "repo [PATH=$HOME/bin:$PATH]")]),
        ("PATH='$HOME/bin' pytest", [("pytest", "repo [PATH='$HOME/bin']")]),
        ("sudo make test", [("make test", "repo")]),
        ("uv run pytest", [("uv run pytest", "repo")]),
        ("pytest && pytest", [("pytest", "repo")]),
        ("eslint src/*.ts", [("eslint src/*.ts", "repo")]),
        ("eslint 'src/*.ts'", [("eslint 'src/*.ts'", "repo")]),
        ('pytest -k "a and b"', [("pytest -k 'a and b'", "repo")]),
        ("pytest '' x", [("pytest '' x", "repo")]),
    ],
)
def test_identity(command: str, expected: list[tuple[str, str]]) -> None:
    assert [(check.canonical, check.workspace) for check in checks(command, "repo")] == expected


@pytest.mark.parametrize(
    ("workspace", "target", "place"),
    [("", "x", "x"), ("/", "x", "/x"), ("/repo/", ".", "/repo/"), ("/repo", "../..", "/"), ("a/b", "../c", "a/c")],
)
def test_directories_are_resolved_by_text(workspace: str, target: str, place: str) -> None:
    assert [check.workspace for check in checks(f"cd {target} && pytest", workspace)] == [place]


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("pytest | tail", "a pipe without pipefail has the exit code of its last command"),
        ("pytest || true", "`||` hides the exit code of what stands before it"),
        ("pytest &", "`&` leaves a command running whose exit code the line does not have"),
        ("! pytest", "`!` turns the exit code round"),
        ("pytest 'x", "a single quote is never closed"),
        ("exit 0; pytest", "exit can end the line with an exit code of its own"),
        ("for x in a; do pytest; done", "the line holds the compound command for"),
        ("x" * 10_001, "the line is longer than 10,000 characters"),
        ("a\0b", "the line holds U+0000"),
        ("", "there is no command in it"),
    ],
)
def test_a_refusal_says_why(command: str, reason: str) -> None:
    assert parse(command, "repo") == NotSimple(reason)


def test_what_is_hidden_stands_beside_what_counts() -> None:
    parsed = parse("pytest; make lint", "repo")
    assert isinstance(parsed, ParsedCommand)
    assert [part.argv for part in parsed.parts] == [("make", "lint")]
    assert parsed.hidden == ("`;` or a newline is followed by another command, whose exit code the line has",)


def test_argv_lists_are_read_without_a_shell() -> None:
    assert [check.canonical for check in checks_argv(("bash", "-lc", "cd x && npm test"), "repo")] == ["npm test"]
    assert [check.canonical for check in checks_argv(("pytest", "-k", "a || b"), "repo")] == ["pytest -k 'a || b'"]
    assert checks_argv(("pytest | tail",), "repo") == ()
    assert checks_argv((), "repo") == ()
    assert checks_argv(("pytest", "x" * 10_001), "repo") == ()


@pytest.mark.parametrize("argv", [(), ("",), ("echo", "test"), ("time",), ("env", "A=1"), ("npx",), ("python", "-m")])
def test_classify_answers_none_for_what_is_no_command_of_its_own(argv: tuple[str, ...]) -> None:
    assert classify(argv) is None


_SHELL_TEXT = st.lists(
    st.sampled_from(
        [
            "pytest",
            "make test",
            "cd x",
            "&&",
            "||",
            ";",
            "|",
            "&",
            "(",
            ")",
            "{",
            "}",
            "'",
            '"',
            "$(",
            "`",
            "${",
            "\\",
            "\n",
            "<<EOF",
            "EOF",
            ">",
            "2>&1",
            "!",
            "#",
            "[[",
            "]]",
            "bash -c",
            "set -e",
            "sudo",
            "env",
            "A=1",
            "-",
            " ",
            "\0",
        ]
    )
).map(" ".join)


@given(st.one_of(st.text(), _SHELL_TEXT))
def test_never_raises_on_any_text(command: str) -> None:
    for check in checks(command, "repo"):
        assert check.canonical


@given(_SHELL_TEXT)
def test_the_canonical_form_reads_back_as_itself(command: str) -> None:
    for check in checks(command, "repo"):
        again = checks(check.canonical, check.workspace)
        assert [(one.canonical, one.workspace, one.kind) for one in again] == [
            (check.canonical, check.workspace, check.kind)
        ]


_WORD = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=8)


def _in_double_quotes(word: str) -> str:
    return '"' + "".join(f"\\{char}" if char in '$`"\\' else char for char in word) + '"'


@given(st.lists(_WORD, max_size=4))
def test_every_way_of_quoting_has_one_canonical_form(words: list[str]) -> None:
    plain = "pytest -- " + " ".join(shlex.quote(word) for word in words)
    doubled = "'pytest' \"--\"   " + "  ".join(map(_in_double_quotes, words))
    assert checks(plain, "repo") == checks(doubled, "repo") == checks_argv(("pytest", "--", *words), "repo")
    assert len(checks(plain, "repo")) <= 1


@pytest.mark.parametrize(
    "piece",
    [
        "(",
        "$(",
        "`",
        "'",
        '"',
        "${a",
        "\\",
        "<<x ",
        "<<'x",
        "a && ",
        "! ",
        "( ",
        "{ ",
        "bash -c ",
        "env A=1 ",
        "npx ",
        "-m ",
        "$(<<a\n",
        "a;",
        "[[ ",
        "time ",
        "sudo ",
        "cd a && ",
    ],
)
def test_hostile_lines_are_read_to_their_end(piece: str) -> None:
    line = (piece * 10_000)[:10_000]
    assert all(check.canonical for check in checks(line, "repo"))
