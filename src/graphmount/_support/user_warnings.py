"""Warnings that name the line of the user's program, however deep inside the package they arise."""

from __future__ import annotations

import os
import sys
import warnings

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def warn_user(message: str) -> None:
    """Warns, at the line outside of this package that led here.

    Args:
        message: What to say.
    """
    frame, level = sys._getframe(1), 2  # noqa: SLF001  (warnings itself counts frames so)
    while frame.f_code.co_filename.startswith(_PACKAGE) and frame.f_back is not None:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level)
