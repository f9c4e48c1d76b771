"""Ray Data for tests: without bars and messages."""

from __future__ import annotations

import importlib
import logging


def quiet_ray_data():
    """The module ray.data; graphmount.ray is imported, too."""
    import ray.data

    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    importlib.import_module("graphmount.ray")
    return ray.data
