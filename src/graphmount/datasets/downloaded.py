"""Folders that other packages have downloaded: where they are."""

from __future__ import annotations

import errno
import os


def find_folder(root: str, names: tuple[str, ...], advice: str) -> str:
    """The folder of a dataset: one of these names in a folder, or that folder itself.

    Args:
        root: What the user gave.
        names: What the dataset's own library calls its folder.
        advice: How it is downloaded.

    Raises:
        FileNotFoundError: It is not there.
    """
    places = [os.path.join(root, name) for name in names]
    if os.path.basename(os.path.abspath(root)) in names:
        places.insert(0, os.path.normpath(root))
    folder = next((place for place in places if os.path.isdir(place)), None)
    if folder is None:
        message = f"this folder is not there; {advice}"
        raise FileNotFoundError(errno.ENOENT, message, places[-1])
    return folder
