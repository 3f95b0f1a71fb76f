"""The tools that verify or build, as data: what each subcommand means and which options take the meaning away.

A tool that is not here is no check: an unknown program may do anything and still exit 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from domain.runs.commands.kinds import CheckKind

_NO_KINDS: Mapping[str, CheckKind] = MappingProxyType({})


def _nothing() -> Mapping[str, CheckKind]:
    return _NO_KINDS


@dataclass(frozen=True, slots=True)
class Tool:
    """How to read the words behind a program's name.

    `alone`: the kind where no subcommand says otherwise. `subcommands`: one or two words and their kind.
    `names_after`: subcommands followed by a free name (`npm run NAME`). `names`: how many leading words are free
    names themselves (`make lint test`). `takes`: options with a value of their own. `needs`: one of these must be
    there (`black` formats, `black --check` checks). `refuses`: options or words with which exit 0 verifies nothing.
    `becomes`: options that change the kind. `named_by`: options whose value is a free name (`nx run-many -t test`).
    `clusters`: one-letter options may be joined (`make -nB`).
    """

    alone: CheckKind | None = None
    subcommands: Mapping[str, CheckKind] = field(default_factory=_nothing)
    names_after: frozenset[str] = frozenset()
    names: int = 0
    takes: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    refuses: frozenset[str] = frozenset()
    becomes: Mapping[str, CheckKind] = field(default_factory=_nothing)
    named_by: frozenset[str] = frozenset()
    clusters: bool = False


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _kinds(**words: str) -> Mapping[str, CheckKind]:
    """`test="a b,c d"`: commas separate subcommands, of one or two words."""
    return MappingProxyType({one.strip(): CheckKind(kind) for kind, all_ in words.items() for one in all_.split(",")})


TEST, LINT, CHECK, BUILD = CheckKind.TEST, CheckKind.LINT, CheckKind.CHECK, CheckKind.BUILD
TYPECHECK = CheckKind.TYPECHECK

REFUSED_ANYWHERE = _set(
    "--help -h --version --dry-run --dryrun --dry --watch --watchAll --watch-all --exit-zero --fix --autofix --write"
    " --list --if-present --init --no-exit-code --update-snapshots --snapshot-update --updateSnapshot"
    " --issues-exit-code=0"
)
"""With one of these no tool of the table verifies anything by exiting 0, or it changes what it verifies."""

_NPM_TAKES = _set("-w --workspace -F --filter --loglevel --userconfig")
_JAVA_SKIPS = MappingProxyType({"-DskipTests": BUILD, "-Dmaven.test.skip": BUILD})

_PYTHON: Mapping[str, Tool] = {
    "pytest": Tool(
        TEST,
        refuses=_set(
            "--collect-only --co --collectonly --fixtures --markers --setup-plan -V --cache-show --fixtures-per-test"
        ),
    ),
    "nose2": Tool(TEST),
    "nosetests": Tool(TEST),
    "trial": Tool(TEST),
    "behave": Tool(TEST, refuses=_set("-d")),
    "stestr": Tool(subcommands=_kinds(test="run")),
    "tox": Tool(
        TEST, refuses=_set("-l -a --listenvs --listenvs-all --notest -n -al -av list config devenv --showconfig")
    ),
    "nox": Tool(TEST, refuses=_set("-l --list-sessions --install-only")),
    "ruff": Tool(
        subcommands=_kinds(lint="check"),
        refuses=_set("--add-noqa --show-files --show-settings -w -e --unsafe-fixes --fix-only"),
    ),
    "flake8": Tool(LINT),
    "pylint": Tool(LINT, refuses=_set("--list-msgs --generate-rcfile")),
    "pyflakes": Tool(LINT),
    "pycodestyle": Tool(LINT),
    "pydocstyle": Tool(LINT),
    "bandit": Tool(LINT),
    "vulture": Tool(LINT),
    "lint-imports": Tool(LINT),
    "black": Tool(LINT, needs=_set("--check")),
    "isort": Tool(LINT, needs=_set("--check --check-only -c")),
    "autopep8": Tool(LINT, needs=_set("--exit-code")),
    "mypy": Tool(TYPECHECK, refuses=_set("-V")),
    "dmypy": Tool(subcommands=_kinds(typecheck="run,check")),
    "pyright": Tool(TYPECHECK, refuses=_set("-w --createstub")),
    "basedpyright": Tool(TYPECHECK, refuses=_set("-w --createstub --writebaseline")),
    "pytype": Tool(TYPECHECK),
    "pyre": Tool(subcommands=_kinds(typecheck="check")),
    "ty": Tool(subcommands=_kinds(typecheck="check")),
    "pre-commit": Tool(subcommands=_kinds(check="run")),
    "twine": Tool(subcommands=_kinds(check="check")),
    "poetry": Tool(subcommands=_kinds(build="build", check="check")),
    "uv": Tool(subcommands=_kinds(build="build")),
    "hatch": Tool(subcommands=_kinds(build="build", test="test"), names_after=_set("run"), refuses=_set("-s --show")),
    "pdm": Tool(subcommands=_kinds(build="build", test="test"), names_after=_set("run")),
    "pixi": Tool(subcommands=_kinds(build="build"), names_after=_set("run"), takes=_set("-e --environment")),
    "rye": Tool(subcommands=_kinds(build="build", test="test", lint="lint")),
    "setup.py": Tool(subcommands=_kinds(test="test", build="build,build_ext", check="check")),
    "manage.py": Tool(subcommands=_kinds(test="test", check="check")),
}

_SCRIPT_RUNNERS: Mapping[str, Tool] = {
    "npm": Tool(
        subcommands=_kinds(test="test,t,tst"),
        names_after=_set("run run-script rum urn"),
        takes=_NPM_TAKES,
        refuses=_set("-u"),
    ),
    "yarn": Tool(names=1, names_after=_set("run"), takes=_NPM_TAKES, refuses=_set("-u")),
    "pnpm": Tool(
        subcommands=_kinds(test="t,tst"),
        names=1,
        names_after=_set("run run-script"),
        takes=_NPM_TAKES,
        refuses=_set("-u"),
    ),
    "bun": Tool(
        names=1, names_after=_set("run"), takes=_NPM_TAKES | _set("--outdir --target"), refuses=_set("-u -w --hot")
    ),
    "deno": Tool(subcommands=_kinds(test="test", lint="lint", typecheck="check"), names_after=_set("task")),
    "lerna": Tool(subcommands=_kinds(test="test"), names_after=_set("run"), takes=_set("--scope")),
    "turbo": Tool(names=1, names_after=_set("run"), takes=_set("--filter -F")),
    "nx": Tool(
        subcommands=_kinds(test="test,e2e", lint="lint", build="build"),
        names_after=_set("run"),
        named_by=_set("-t --target --targets"),
    ),
}

_JAVASCRIPT: Mapping[str, Tool] = {
    "jest": Tool(TEST, refuses=_set("-u --listTests --showConfig --clearCache")),
    "vitest": Tool(TEST, refuses=_set("-u -w --update watch dev list init bench")),
    "mocha": Tool(TEST, refuses=_set("-w --list-files")),
    "ava": Tool(TEST, refuses=_set("-u --update-snapshots")),
    "tap": Tool(TEST),
    "jasmine": Tool(TEST, refuses=_set("init")),
    "karma": Tool(subcommands=_kinds(test="start,run")),
    "playwright": Tool(subcommands=_kinds(test="test"), refuses=_set("--ui --debug -u")),
    "cypress": Tool(subcommands=_kinds(test="run")),
    "cucumber-js": Tool(TEST),
    "wtr": Tool(TEST),
    "tsc": Tool(
        BUILD,
        becomes=_kinds(typecheck="--noEmit"),
        refuses=_set("-w -v --clean --showConfig --listFilesOnly --all --noCheck"),
    ),
    "tsgo": Tool(BUILD, becomes=_kinds(typecheck="--noEmit"), refuses=_set("-w -v --clean --showConfig")),
    "vue-tsc": Tool(TYPECHECK, refuses=_set("-w -v")),
    "svelte-check": Tool(TYPECHECK),
    "flow": Tool(subcommands=_kinds(typecheck="check,focus-check")),
    "eslint": Tool(LINT, refuses=_set("-v --fix-dry-run --print-config --env-info --inspect-config")),
    "standard": Tool(LINT),
    "xo": Tool(LINT),
    "tslint": Tool(LINT),
    "stylelint": Tool(LINT, refuses=_set("-v --print-config")),
    "oxlint": Tool(LINT),
    "biome": Tool(
        subcommands=_kinds(check="check", lint="lint,ci,format"), refuses=_set("--apply --apply-unsafe --unsafe")
    ),
    "prettier": Tool(LINT, needs=_set("--check -c --list-different -l"), refuses=_set("-w")),
    "markdownlint": Tool(LINT, refuses=_set("-f")),
    "markdownlint-cli2": Tool(LINT),
    "next": Tool(subcommands=_kinds(build="build", lint="lint")),
    "nuxt": Tool(subcommands=_kinds(build="build", typecheck="typecheck")),
    "astro": Tool(subcommands=_kinds(build="build", check="check")),
    "vite": Tool(subcommands=_kinds(build="build"), refuses=_set("-w")),
    "webpack": Tool(BUILD, refuses=_set("serve init info watch w -w")),
    "rollup": Tool(BUILD, needs=_set("-c --config -i --input"), refuses=_set("-w -v")),
    "tsup": Tool(BUILD),
    "ng": Tool(subcommands=_kinds(build="build", test="test,e2e", lint="lint")),
    "react-scripts": Tool(subcommands=_kinds(build="build", test="test")),
    "vue-cli-service": Tool(subcommands=_kinds(build="build", test="test:unit,test:e2e", lint="lint")),
    "node": Tool(
        CHECK, needs=_set("--test --check -c"), becomes=_kinds(test="--test"), refuses=_set("-v -e -p --eval --print")
    ),
    "hardhat": Tool(subcommands=_kinds(test="test", build="compile")),
    "forge": Tool(subcommands=_kinds(test="test", build="build"), refuses=_set("-w")),
}

_COMPILED: Mapping[str, Tool] = {
    "go": Tool(
        subcommands=_kinds(test="test", vet="vet", build="build"),
        becomes=_kinds(build="-c"),
        refuses=_set("-list -n -help"),
    ),
    "gotestsum": Tool(TEST),
    "golangci-lint": Tool(subcommands=_kinds(lint="run")),
    "staticcheck": Tool(LINT),
    "revive": Tool(LINT, needs=_set("-set_exit_status")),
    "cargo": Tool(
        subcommands=_kinds(
            test="test,t,nextest run,llvm-cov,tarpaulin",
            build="build,b",
            check="check,c,deny check,audit",
            lint="clippy",
        ),
        becomes=_kinds(build="--no-run"),
        takes=_set("--manifest-path -p --package --target-dir --config -Z --color"),
        refuses=_set("clean report show-env -V"),
    ),
    "rustfmt": Tool(LINT, needs=_set("--check")),
    "swift": Tool(subcommands=_kinds(test="test", build="build"), takes=_set("--package-path")),
    "xcodebuild": Tool(
        subcommands=_kinds(test="test", build="build"),
        takes=_set("-scheme -project -workspace -destination -sdk"),
        refuses=_set("-list -showBuildSettings -version"),
    ),
    "swiftlint": Tool(LINT, refuses=_set("--autocorrect autocorrect rules version")),
    "zig": Tool(subcommands=_kinds(test="test,build test", build="build,build-exe,build-lib")),
    "dotnet": Tool(subcommands=_kinds(test="test,vstest", build="build"), refuses=_set("-t --list-tests -lt")),
    "msbuild": Tool(BUILD),
    "mvn": Tool(
        subcommands=_kinds(test="test,verify,integration-test", build="compile,package,install,test-compile"),
        names=99,
        takes=_set("-pl --projects -f --file -P -s --settings -T"),
        becomes=_JAVA_SKIPS,
        refuses=_set("-v -Dmaven.test.failure.ignore -fn --fail-never"),
    ),
    "gradle": Tool(
        names=99,
        takes=_set("-x --exclude-task --tests -p --project-dir -b --build-file -c -I --init-script -g"),
        refuses=_set("-m -t --continuous tasks -v"),
    ),
    "sbt": Tool(names=99),
    "ctest": Tool(TEST, refuses=_set("-N --show-only --print-labels")),
    "cmake": Tool(BUILD, needs=_set("--build"), named_by=_set("-t --target")),
    "meson": Tool(subcommands=_kinds(test="test", build="compile")),
    "ninja": Tool(BUILD, names=99, takes=_set("-f -d"), refuses=_set("-n -t"), clusters=True),
    "bazel": Tool(subcommands=_kinds(test="test,coverage", build="build"), refuses=_set("--nobuild")),
    "buck2": Tool(subcommands=_kinds(test="test", build="build")),
    "pants": Tool(subcommands=_kinds(test="test", lint="lint", check="check")),
    "stack": Tool(subcommands=_kinds(test="test", build="build")),
    "cabal": Tool(subcommands=_kinds(test="test", build="build", check="check")),
    "dune": Tool(subcommands=_kinds(test="test,runtest", build="build"), refuses=_set("-w")),
    "clang-tidy": Tool(LINT),
    "cppcheck": Tool(LINT, needs=_set("--error-exitcode")),
    "gcc": Tool(BUILD, refuses=_set("-v -E -###")),
    "g++": Tool(BUILD, refuses=_set("-v -E -###")),
    "clang": Tool(BUILD, refuses=_set("-v -E -###")),
    "clang++": Tool(BUILD, refuses=_set("-v -E -###")),
    "rustc": Tool(BUILD, refuses=_set("-V -vV --explain --print")),
    "javac": Tool(BUILD, refuses=_set("-version")),
}

_OTHER: Mapping[str, Tool] = {
    "make": Tool(
        names=99,
        takes=_set("-f -I -l -o -W --file --makefile --include-dir --load-average --old-file --what-if"),
        refuses=_set("-n --just-print --recon -q --question -t --touch -p --print-data-base -v -i --ignore-errors"),
        clusters=True,
    ),
    "just": Tool(
        names=99,
        takes=_set("-f --justfile -d --working-directory --set"),
        refuses=_set("-n -l --summary --show -s --evaluate -e --edit --choose"),
    ),
    "task": Tool(names=99, takes=_set("-t --taskfile"), refuses=_set("-n -l -a --list-all -s --status --summary -w")),
    "mise": Tool(names_after=_set("run r")),
    "rake": Tool(names=99, refuses=_set("-T --tasks -n -P --prereqs -V -W")),
    "rails": Tool(subcommands=_kinds(test="test,test:system,test:all,spec"), refuses=_set("-v")),
    "rspec": Tool(TEST, refuses=_set("-v --bisect")),
    "minitest": Tool(TEST),
    "cucumber": Tool(TEST, refuses=_set("-d")),
    "rubocop": Tool(
        LINT,
        refuses=_set(
            "-a -A -x --auto-correct --autocorrect"
            " --autocorrect-all --auto-correct-all --fix-layout --auto-gen-config"
            " -v -V -L --list-target-files --show-cops"
        ),
    ),
    "standardrb": Tool(LINT),
    "brakeman": Tool(LINT, refuses=_set("--no-exit-on-warn")),
    "ruby": Tool(CHECK, needs=_set("-c"), refuses=_set("-e -v")),
    "php": Tool(LINT, needs=_set("-l --syntax-check"), refuses=_set("-r -v")),
    "artisan": Tool(subcommands=_kinds(test="test")),
    "phpunit": Tool(TEST, refuses=_set("--list-tests --list-suites")),
    "pest": Tool(TEST),
    "phpstan": Tool(subcommands=_kinds(lint="analyse,analyze"), refuses=_set("--generate-baseline")),
    "psalm": Tool(LINT, refuses=_set("--alter --init")),
    "composer": Tool(subcommands=_kinds(test="test", check="validate"), names_after=_set("run run-script"), names=1),
    "mix": Tool(subcommands=_kinds(test="test", build="compile", lint="credo", typecheck="dialyzer")),
    "rebar3": Tool(subcommands=_kinds(test="eunit,ct", build="compile", typecheck="dialyzer")),
    "lein": Tool(subcommands=_kinds(test="test", build="compile", check="check")),
    "flutter": Tool(subcommands=_kinds(test="test", lint="analyze", build="build")),
    "dart": Tool(subcommands=_kinds(test="test", lint="analyze", build="compile")),
    "bats": Tool(TEST, refuses=_set("-c --count -v")),
    "shellcheck": Tool(LINT, refuses=_set("-V --list-optional")),
    "shfmt": Tool(LINT, needs=_set("-d --diff"), refuses=_set("-w")),
    "yamllint": Tool(LINT, refuses=_set("-v --list-files")),
    "hadolint": Tool(LINT, refuses=_set("-v --no-fail")),
    "actionlint": Tool(LINT),
    "ansible-lint": Tool(LINT),
    "ansible-playbook": Tool(CHECK, needs=_set("--syntax-check")),
    "sqlfluff": Tool(subcommands=_kinds(lint="lint"), refuses=_set("--nofail")),
    "buf": Tool(subcommands=_kinds(lint="lint", build="build", check="breaking")),
    "terraform": Tool(subcommands=_kinds(check="validate", test="test")),
    "tofu": Tool(subcommands=_kinds(check="validate", test="test")),
    "tflint": Tool(LINT, refuses=_set("--force -v")),
    "packer": Tool(subcommands=_kinds(check="validate")),
    "helm": Tool(subcommands=_kinds(lint="lint"), takes=_set("-n --namespace --kube-context")),
    "kubeconform": Tool(CHECK),
    "docker": Tool(
        subcommands=_kinds(build="build,buildx build,image build,compose build"),
        refuses=_set("--check"),
        takes=_set("-H --host -c --context -f --file"),
    ),
    "docker-compose": Tool(subcommands=_kinds(build="build"), takes=_set("-f --file -p")),
    "podman": Tool(subcommands=_kinds(build="build")),
}

TOOLS: Mapping[str, Tool] = MappingProxyType({**_PYTHON, **_SCRIPT_RUNNERS, **_JAVASCRIPT, **_COMPILED, **_OTHER})

FORMATTERS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "ruff format": _set("--check --diff"),
        "cargo fmt": _set("--check"),
        "mix format": _set("--check-formatted"),
        "deno fmt": _set("--check"),
        "dart format": _set("--set-exit-if-changed"),
        "terraform fmt": _set("-check --check"),
        "tofu fmt": _set("-check --check"),
        "dotnet format": _set("--verify-no-changes"),
        "manage.py makemigrations": _set("--check"),
    }
)
"""Subcommands that rewrite what they find, and the options with which they only check."""

MODULES: Mapping[str, CheckKind] = MappingProxyType(
    {"unittest": TEST, "doctest": TEST, "py_compile": CHECK, "compileall": CHECK, "build": BUILD}
)
"""What `python -m NAME` does for names that are no program of their own."""
