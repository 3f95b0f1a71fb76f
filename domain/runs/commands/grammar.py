"""Read shell tokens into a tree of lists, chains, pipelines and commands.

Only the forms that people verify with are read; a loop, a condition or a function is refused with its name.
"""

from dataclasses import dataclass

from domain.runs.commands.lexer import Operator, Redirect, Token, Word, tokens

LONGEST_LINE = 10_000
"""Characters; a longer line is data that was piped into a shell, not a command someone verifies with."""

_DEEPEST = 12
_COMPOUND = frozenset({"if", "for", "while", "until", "case", "select", "function", "coproc", "do", "then", "else"})


class Refused(Exception):
    """The line has a form that this reader does not follow; the message says which."""


@dataclass(frozen=True, slots=True)
class Command:
    """Words and redirections of one command."""

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """`( list )`, which runs in a shell of its own, or `{ list; }`, which does not."""

    items: tuple["Item", ...]
    own_shell: bool
    redirects: tuple[Redirect, ...]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by `|`; `negated` after `!`."""

    members: tuple[Command | Group, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class Item:
    """A chain of pipelines with the operators between them, and whether `&` puts it in the background."""

    first: Pipeline
    others: tuple[tuple[str, Pipeline], ...]
    in_background: bool


def read(line: str) -> tuple[Item, ...]:
    """The items of a line. Raises Refused or ShellSyntaxError with the reason."""
    if len(line) > LONGEST_LINE:
        raise Refused(f"the line is longer than {LONGEST_LINE:,} characters")
    if "\0" in line:
        raise Refused("the line holds U+0000")
    return _Reader(tokens(line)).items(until=None)


class _Reader:
    """One pass over one token sequence."""

    def __init__(self, found: tuple[Token, ...]) -> None:
        self._tokens = found
        self._at = 0
        self._depth = 0

    def items(self, until: str | None) -> tuple[Item, ...]:
        """A list up to the closing mark `until` (`)` or `}`), which is consumed, or to the end."""
        found: list[Item] = []
        self._skip_newlines()
        while not self._closes(until):
            if self._peek() is None:
                raise Refused(f"a closing {until} is missing")
            first, others = self._pipeline(), list[tuple[str, Pipeline]]()
            while (symbol := self._symbol()) in ("&&", "||"):
                self._at += 1
                self._skip_newlines()
                others.append((symbol, self._pipeline()))
            ending = self._symbol()
            if ending in (";", "&", "\n"):
                self._at += 1
            elif ending not in ("end", until):
                raise Refused(f"{ending} stands where a command should end")
            found.append(Item(first, tuple(others), in_background=ending == "&"))
            self._skip_newlines()
        return tuple(found)

    def _peek(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _symbol(self) -> str:
        """The operator that comes next, `end`, or an empty text before a word."""
        token = self._peek()
        if token is None:
            return "end"
        return token.symbol if isinstance(token, Operator) else ""

    def _word_is(self, *raws: str) -> bool:
        token = self._peek()
        return isinstance(token, Word) and token.raw in raws

    def _skip_newlines(self) -> None:
        while self._symbol() == "\n":
            self._at += 1

    def _closes(self, until: str | None) -> bool:
        if until is None:
            return self._peek() is None
        if self._symbol() != until and not self._word_is(until):
            return False
        self._at += 1
        return True

    def _pipeline(self) -> Pipeline:
        negated = False
        while self._word_is("!", "time"):
            negated = negated or self._word_is("!")
            self._at += 1
            while self._word_is("-p"):
                self._at += 1
        members = [self._member()]
        while self._symbol() in ("|", "|&"):
            self._at += 1
            self._skip_newlines()
            members.append(self._member())
        return Pipeline(tuple(members), negated)

    def _member(self) -> Command | Group:
        if self._symbol() == "(" or self._word_is("{"):
            return self._group()
        words: list[Word] = []
        redirects: list[Redirect] = []
        while (token := self._peek()) is not None:
            if isinstance(token, Operator):
                if token.symbol == "(":
                    raise Refused("the line defines a function or an array")
                break
            self._at += 1
            if isinstance(token, Redirect):
                redirects.append(token)
            elif not words and token.raw == "[[":
                words.extend(self._condition(token))
            elif not words and token.raw in _COMPOUND:
                raise Refused(f"the line holds the compound command {token.raw}")
            else:
                words.append(token)
        if not words and not redirects:
            raise Refused("an operator stands where a command is missing")
        return Command(tuple(words), tuple(redirects))

    def _group(self) -> Group:
        own_shell = self._symbol() == "("
        if self._depth >= _DEEPEST:
            raise Refused("the line is nested too deeply")
        self._at += 1
        self._depth += 1
        items = self.items(until=")" if own_shell else "}")
        self._depth -= 1
        redirects: list[Redirect] = []
        while isinstance(token := self._peek(), Redirect):
            redirects.append(token)
            self._at += 1
        if isinstance(token, Word) and not self._word_is("}"):
            raise Refused("a word follows a group")
        return Group(items, own_shell, tuple(redirects))

    def _condition(self, opening: Word) -> list[Word]:
        """The words of `[[ ... ]]`, whose operators are its own."""
        words = [opening]
        while (token := self._peek()) is not None:
            self._at += 1
            if isinstance(token, Word):
                words.append(token)
                if token.raw == "]]":
                    return words
        raise Refused("a [[ is never closed")
