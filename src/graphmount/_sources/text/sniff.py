"""What a text table looks like, guessed from its first lines.

Guesses use the rows as the core splits them, so that they are about what will be read. Options that
the user gives are not guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from graphmount import _core
from graphmount._sources.text.compression import find_compression, unpack
from graphmount._support.files.regular_files import open_raw, open_regular
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmount._sources.text.decoders import Compression

#: The fields of a row, without the blanks and quotes around them.
Row: TypeAlias = "list[bytes]"
#: What a field may be taken for.
Kind: TypeAlias = Literal["id", "integer", "number", "time"]

_SAMPLE_BYTES = 256 << 10
#: The limit of the core, which has a smaller one for a smaller budget.
_LONGEST_LINE = 16 << 20
_SAMPLE_ROWS = 1000
#: About so many fields tell whether a delimiter leaves numbers between them.
_SAMPLE_FIELDS = 1000
#: In the order in which they are preferred where several would do; blanks come last.
_DELIMITERS = ("\t", ",", ";", "")

_INTEGER = re.compile(rb"-?[0-9]+")
_NUMBER = re.compile(
    rb"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|nan|inf|infinity)", re.IGNORECASE
)
_TIME = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.,]+(Z|[+-][0-9:]+)?)?", re.IGNORECASE)
#: Usual names of columns of node ids. If ids are text, a header can be recognised only by these.
_ID_NAMES = frozenset(
    b"source target src dst from to head tail u v node node1 node2 node_id id source_id target_id "
    b"src_id dst_id from_id to_id fromnodeid tonodeid from_node_id to_node_id start end".split()
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """The start of a text file, unpacked.

    Attributes:
        text: Whole lines, each with its line break.
        compression: What the file is compressed with.
    """

    text: bytes
    compression: Compression | None

    def rows(self, *, delimiter: str, comments: str) -> list[Row]:
        """The first rows, at most a thousand. Such as cannot be split are empty."""
        return _core.split_text(
            self.text,
            delimiter=delimiter,
            comments=comments,
            quotes=True,
            max_rows=_SAMPLE_ROWS,
        )


def read_sample(path: str) -> Sample:
    """The first lines of a file, of about 256 KiB, and three at least.

    Raises:
        SourceError: The file is no text in UTF-8, or its lines do not end.
        OSError: It cannot be read.
    """
    with open_regular(path) as file:
        compression = find_compression(file.read(10))
    text = bytearray()
    is_whole = True
    for part in _parts_of(path, compression):
        text += part
        if len(text) >= _SAMPLE_BYTES and (text.count(b"\n") >= 3 or len(text) > _LONGEST_LINE):
            is_whole = False
            break
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SourceError(f"{path}: this looks like UTF-16; save it as UTF-8")
    if b"\0" in text[:4096]:
        kind = "a ZIP archive; unpack it" if text.startswith(b"PK\3\4") else "no text in UTF-8"
        raise SourceError(f"{path}: there are null bytes in it: this is {kind}")
    if not is_whole and b"\n" not in text:
        raise SourceError(
            f"{path}, line 1: longer than {_LONGEST_LINE >> 20} MiB; this does not look like a "
            "text table"
        )
    text = text.removeprefix(b"\xef\xbb\xbf")
    if is_whole and not text.endswith(b"\n"):
        text += b"\n"
    return Sample(text=bytes(text[: text.rfind(b"\n") + 1]), compression=compression)


def _parts_of(path: str, compression: Compression | None) -> Iterator[bytes]:
    if compression is not None:
        for content, _ in unpack(path, compression):
            yield content
        return
    with open_raw(path) as file:
        while part := file.read(_SAMPLE_BYTES):
            yield part


def find_delimiter(sample: Sample, *, comments: str) -> tuple[str, list[Row]]:
    """The character that separates fields, an empty string for blanks; and the first rows.

    It is the one that gives the same number of fields in the most rows, and the most numbers.
    Blanks may also be within names, so where another would do, most fields must be numbers.
    """
    best, best_rows, best_score = ",", None, (0.0, 0.0)
    for delimiter in _DELIMITERS:
        # Without the delimiter, each row is one field. Looking for it is faster than splitting.
        if not any(mark.encode() in sample.text for mark in delimiter or " \t"):
            continue
        rows = sample.rows(delimiter=delimiter, comments=comments)
        if not rows:
            break
        [(width, count)] = Counter(map(len, rows)).most_common(1)
        if width < 2:
            continue
        num_rows = min(100, max(10, _SAMPLE_FIELDS // width))
        fields = [field for row in rows[:num_rows] for field in row]
        numbers = sum(is_kind(field, "number") or is_kind(field, "time") for field in fields)
        score = (round(count / len(rows), 1), round(numbers / len(fields), 1))
        if not delimiter and best_score[0] >= score[0] and 2 * numbers <= len(fields):
            continue
        if score > best_score:
            best, best_rows, best_score = delimiter, rows, score
    if best_rows is None:
        best_rows = sample.rows(delimiter=best, comments=comments)
    return best, best_rows


def is_kind(field: bytes, kind: Kind) -> bool:
    """Whether a field can be read as what it should be."""
    if kind == "number":
        return _NUMBER.fullmatch(field) is not None
    if kind == "time":
        return _TIME.fullmatch(field) is not None
    if _INTEGER.fullmatch(field) is None:
        return False
    digits = field.lstrip(b"-0") or b"0"
    return len(digits) <= 19 and int(digits) < 2**63 + field.startswith(b"-")


def is_all(rows: list[Row], column: int, kind: Kind, *, most: bool = False) -> bool:
    """Whether a column is of this kind in all rows that have it, or in `most` of them.

    A column without a row is of no kind.
    """
    fields = [row[column] for row in rows if column < len(row)]
    count = sum(is_kind(field, kind) for field in fields)
    return bool(fields) and (2 * count > len(fields) if most else count == len(fields))


def has_fractions(rows: list[Row], column: int) -> bool:
    """Whether a column has numbers that int64 cannot hold: 1.5, NaN, or too large ones."""
    fields = (row[column] for row in rows if column < len(row))
    return any(is_kind(field, "number") and not is_kind(field, "integer") for field in fields)


def is_header(rows: list[Row], picks: list[tuple[int, Kind]]) -> bool:
    """Whether the first row holds names: most of what is a number below is none there.

    Where ids are text, so that nothing shows, the names must be usual ones.

    Args:
        rows: The first rows, and the one in question.
        picks: The columns to look at, and what they should be.
    """
    first, others = rows[0], rows[1:]
    if any(column >= len(first) for column, _ in picks):
        return False
    ids = [column for column, kind in picks if kind == "id"]
    if ids and all(first[column].lower() in _ID_NAMES for column in ids):
        return True
    # An empty field is a missing value rather than a name.
    named = {pick for pick in picks if first[pick[0]] and not is_kind(first[pick[0]], pick[1])}
    if not named:
        return False  # whatever the others are
    numeric = [pick for pick in picks if is_all(others, *pick, most=True)]
    return 2 * sum(pick in named for pick in numeric) > len(numeric)
