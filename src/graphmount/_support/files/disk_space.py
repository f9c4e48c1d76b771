"""Whether a disk has room for what is about to be written, asked before an hour of work."""

from __future__ import annotations

import errno
import os
import shutil

from graphmount._support.sizes import format_bytes


def require_free(needs: dict[str, int], what: str) -> None:
    """Raises if a folder has not as many bytes free as are needed there.

    Args:
        needs: Bytes, by the folder they will be written to.
        what: What needs them, for the message.

    Raises:
        OSError: With ENOSPC and the folder.
    """
    for folder, needed in needs.items():
        try:
            free = shutil.disk_usage(folder).free
        except OSError:
            continue  # writing there will say what is wrong, and with which file
        if needed > free:
            message = (
                f"{os.strerror(errno.ENOSPC)}: {what} needs about {format_bytes(needed)} here, and "
                f"{format_bytes(free)} are free; make room, or pass tmp= for temporary files"
            )
            raise OSError(errno.ENOSPC, message, folder)
