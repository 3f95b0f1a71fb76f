"""Split a shell line into words, operators and redirections.

What a word would become only when the shell runs (command substitution, parameters, patterns) is never
guessed: the word says which of these it holds, and the reader decides. The scan never goes back, so its
time grows with the length of the line.
"""

import re
from dataclasses import dataclass, field

_PLAIN = re.compile(r"[^\s'\"\\$`|&;()<>*?\[{}~#]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPERATORS = ("&&", "||", ";;", "|&", "&", "|", ";", "(", ")", "\n")
_REDIRECTIONS = ("&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", ">>", ">&", ">|", "<", ">")
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)([^\s'\"<>|&;()]+)\1")
_BREAKS_WORD = frozenset(" \t\r\n|&;()<>")


class ShellSyntaxError(Exception):
    """The line cannot be read as shell words; the message says what was found."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word after quote removal.

    `text`: its characters without quotes; `raw`: as it was written. `opaque`: holds a command substitution or
    another expansion whose value only the shell knows. `variables`: names of the plain `$NAME` it holds.
    `pattern`: has an unquoted glob or brace. `quoted`: some part of it was quoted or escaped.
    """

    text: str
    raw: str
    opaque: bool = False
    variables: frozenset[str] = frozenset()
    pattern: bool = False
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Operator:
    """A control operator: `&&`, `||`, `;`, `;;`, `&`, `|`, `|&`, `(`, `)` or a newline."""

    symbol: str


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirection with its target; a here-document has its delimiter as target."""

    symbol: str
    target: Word


Token = Word | Operator | Redirect


@dataclass(slots=True)
class _Piece:
    """The word being read."""

    start: int
    text: list[str] = field(default_factory=list[str])
    variables: set[str] = field(default_factory=set[str])
    opaque: bool = False
    pattern: bool = False
    quoted: bool = False

    def word(self, raw: str) -> Word:
        return Word("".join(self.text), raw, self.opaque, frozenset(self.variables), self.pattern, self.quoted)


def tokens(line: str) -> tuple[Token, ...]:
    """The tokens of a shell line, in order. Raises ShellSyntaxError on text that no shell would accept."""
    return _Scanner(line).run()


class _Scanner:
    """One pass over one line."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._at = 0
        self._found: list[Token] = []
        self._heredocs: list[tuple[str, bool]] = []

    def run(self) -> tuple[Token, ...]:
        while self._at < len(self._line):
            self._step()
        return tuple(self._found)

    def _step(self) -> None:
        line, at = self._line, self._at
        if line[at] in " \t\r":
            self._at += 1
        elif line.startswith("\\\n", at):
            self._at += 2
        elif line[at] == "#":
            end = line.find("\n", at)
            self._at = len(line) if end < 0 else end
        elif self._opens_process_substitution():
            self._found.append(self._word())
        elif (symbol := self._starts(_REDIRECTIONS)) is not None:
            self._redirect(symbol)
        elif (symbol := self._starts(_OPERATORS)) is not None:
            self._at += len(symbol)
            self._found.append(Operator(symbol))
            if symbol == "\n":
                self._skip_heredocs()
        else:
            word = self._word()
            if not (word.raw.isdigit() and self._starts(_REDIRECTIONS)):
                self._found.append(word)

    def _starts(self, symbols: tuple[str, ...]) -> str | None:
        return next((symbol for symbol in symbols if self._line.startswith(symbol, self._at)), None)

    def _opens_process_substitution(self) -> bool:
        return self._line.startswith(("<(", ">("), self._at)

    def _redirect(self, symbol: str) -> None:
        self._at += len(symbol)
        while self._line.startswith((" ", "\t", "\\\n"), self._at):
            self._at += 2 if self._line[self._at] == "\\" else 1
        if self._at >= len(self._line) or (
            self._line[self._at] in _BREAKS_WORD and not self._opens_process_substitution()
        ):
            raise ShellSyntaxError(f"the redirection {symbol} has no target")
        target = self._word()
        if symbol in ("<<", "<<-"):
            self._heredocs.append((target.text, symbol == "<<-"))
        self._found.append(Redirect(symbol, target))

    def _skip_heredocs(self) -> None:
        for delimiter, strips_tabs in self._heredocs:
            while self._at < len(self._line):
                end = self._line.find("\n", self._at)
                end = len(self._line) if end < 0 else end
                body = self._line[self._at : end].rstrip("\r")
                self._at = end + 1
                if (body.lstrip("\t") if strips_tabs else body) == delimiter:
                    break
        self._heredocs.clear()
        self._at = min(self._at, len(self._line))

    def _word(self) -> Word:
        piece = _Piece(self._at)
        while self._at < len(self._line):
            char = self._line[self._at]
            plain = _PLAIN.match(self._line, self._at)
            if plain is not None:
                piece.text.append(plain[0])
                self._at = plain.end()
            elif self._opens_process_substitution():
                piece.opaque = True
                self._at = _after_parenthesis(self._line, self._at + 2)
            elif char in _BREAKS_WORD:
                break
            else:
                self._special(char, piece)
        return piece.word(self._line[piece.start : self._at])

    def _special(self, char: str, piece: _Piece) -> None:
        line, at = self._line, self._at
        if char == "'":
            end = line.find("'", at + 1)
            if end < 0:
                raise ShellSyntaxError("a single quote is never closed")
            piece.text.append(line[at + 1 : end])
            piece.quoted = True
            self._at = end + 1
        elif char == '"':
            self._double_quoted(piece)
        elif char == "\\":
            escaped = line[at + 1 : at + 2]
            if escaped != "\n":
                piece.text.append(escaped)
                piece.quoted = True
            self._at = at + 2 if escaped else at + 1
        elif char in "$`":
            self._expansion(piece)
        elif char == "~" and at == piece.start:
            piece.variables.add("HOME")
            piece.text.append(char)
            self._at += 1
        else:
            piece.pattern = piece.pattern or char in "*?[{"
            piece.text.append(char)
            self._at += 1

    def _double_quoted(self, piece: _Piece) -> None:
        line = self._line
        piece.quoted = True
        self._at += 1
        while self._at < len(line):
            char = line[self._at]
            if char == '"':
                self._at += 1
                return
            if char == "\\" and line[self._at + 1 : self._at + 2] in tuple('$`"\\\n'):
                piece.text.append(line[self._at + 1].replace("\n", ""))
                self._at += 2
            elif char in "$`":
                self._expansion(piece, in_quotes=True)
            else:
                end = self._at + 1
                while end < len(line) and line[end] not in '"\\$`':
                    end += 1
                piece.text.append(line[self._at : end])
                self._at = end
        raise ShellSyntaxError("a double quote is never closed")

    def _expansion(self, piece: _Piece, in_quotes: bool = False) -> None:
        line, at = self._line, self._at
        following = line[at + 1 : at + 2]
        name = _NAME.match(line, at + 1)
        if line[at] == "`":
            self._at, piece.opaque = _after_backtick(line, at + 1), True
        elif following == "(":
            self._at, piece.opaque = _after_parenthesis(line, at + 2), True
        elif following == "{":
            end = line.find("}", at)
            if end < 0:
                raise ShellSyntaxError("a ${ is never closed")
            inner = _NAME.fullmatch(line, at + 2, end)
            self._parameter(piece, inner[0] if inner else None, end + 1)
        elif name is not None:
            self._parameter(piece, name[0], name.end())
        elif following == "'" and not in_quotes:
            self._at, piece.opaque = _after_ansi_quote(line, at + 2), True
        elif following == '"' and not in_quotes:
            self._at += 1
        elif following and following in "?!#@*$-0123456789":
            self._parameter(piece, None, at + 2)
        else:
            piece.text.append("$")
            self._at += 1

    def _parameter(self, piece: _Piece, name: str | None, end: int) -> None:
        if name is None:
            piece.opaque = True
        else:
            piece.variables.add(name)
        piece.text.append(self._line[self._at : end])
        self._at = end


def _after_backtick(line: str, at: int) -> int:
    while at < len(line):
        if line[at] == "`":
            return at + 1
        at += 2 if line[at] == "\\" else 1
    raise ShellSyntaxError("a backtick is never closed")


def _after_ansi_quote(line: str, at: int) -> int:
    while at < len(line):
        if line[at] == "'":
            return at + 1
        at += 2 if line[at] == "\\" else 1
    raise ShellSyntaxError("a $' quote is never closed")


def _after_parenthesis(line: str, at: int) -> int:
    """The place behind the parenthesis that closes the one before `at`; quotes and here-documents are skipped."""
    open_marks = [")"]
    heredoc: str | None = None
    while at < len(line):
        char, inside = line[at], open_marks[-1]
        if char == "\\":
            at += 2
        elif char == "\n" and heredoc is not None and inside == ")":
            at, heredoc = _after_heredoc(line, at + 1, heredoc), None
        elif inside == '"' and char == '"':
            open_marks.pop()
            at += 1
        elif line.startswith("$(", at):
            open_marks.append(")")
            at += 2
        elif inside == '"':
            at += 1
        elif char == "'":
            end = line.find("'", at + 1)
            if end < 0:
                break
            at = end + 1
        elif (mark := _HEREDOC.match(line, at)) is not None and line[at : at + 3] != "<<<":
            heredoc, at = mark[2], mark.end()
        else:
            if char in '"(':
                open_marks.append('"' if char == '"' else ")")
            elif char == ")":
                open_marks.pop()
                if not open_marks:
                    return at + 1
            at += 1
    raise ShellSyntaxError("a parenthesis is never closed")


def _after_heredoc(line: str, at: int, delimiter: str) -> int:
    while at < len(line):
        end = line.find("\n", at)
        end = len(line) if end < 0 else end
        if line[at:end].strip() == delimiter:
            return end
        at = end + 1
    return at
