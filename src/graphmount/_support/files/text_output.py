"""Small text files that are written whole: reports, results, descriptions.

The text goes to a new file with a random name, which then replaces the old file. A link is
followed. If there is something else than a regular file, it is refused and not waited for.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress

from graphmount._support.files.regular_files import require_replaceable


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a file, or replaces the one that is there.

    Args:
        path: The file.
        text: All that will be in it.

    Raises:
        OSError: It cannot be written, with the path; EINVAL if what is there is no regular file.
    """
    target = os.path.realpath(path)
    require_replaceable(target)
    partial = os.path.join(os.path.dirname(target), f".graphmount-{secrets.token_hex(8)}.tmp")
    process = os.getpid()
    try:
        with open(partial, "x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, target)
    except BaseException:
        if os.getpid() == process:
            with suppress(OSError):
                os.unlink(partial)
        raise
