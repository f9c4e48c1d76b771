"""Folders of RelBench, version 3, in small: a manifest, a Parquet file for each table, a task."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

#: As relbench.manifest writes it.
MANIFEST = """\
name: rel-small
manifest_version: 1
description: |-
  A database of posts, the users who wrote them, and votes.
val_timestamp: '2020-01-01'
test_timestamp: '2021-01-01'
tables:
  users:
    pkey: Id
    time_col: CreationDate
    fkeys: {}
  posts:
    pkey: Id
    time_col: CreationDate
    fkeys:
      OwnerUserId: users
      ParentId: posts
  votes:
    pkey: null
    time_col: null
    fkeys:
      PostId: posts
      UserId: users
"""
TASK = """\
name: user-badge
kind: forecast
task_type: binary_classification
entity_table: users
entity_col: UserId
target_col: WillGetBadge
time_col: timestamp
timedelta: 90 days
remove_columns:
- - posts
  - Score
sql: |-
  SELECT 1
manifest_version: 1
"""


def at(year):
    return datetime(year, 1, 1, tzinfo=UTC).replace(tzinfo=None)


def seconds(year):
    return int(datetime(year, 1, 1, tzinfo=UTC).timestamp())


TABLES = {
    "users": {
        "Id": [0, 1, 2],
        "CreationDate": pa.array([at(2018), at(2019), None], pa.timestamp("ns")),
        "DisplayName": ["ann", "bob", "cay"],
        "Age": pa.array([31, None, 47], pa.int64()),
        "IsAdmin": [True, False, False],
    },
    "posts": {
        "Id": [0, 1, 2, 3],
        "CreationDate": pa.array([at(2018), at(2019), at(2019), at(2021)], pa.timestamp("us")),
        "OwnerUserId": pa.array([2, 0, None, 1], pa.int64()),
        "ParentId": pa.array([np.nan, 0.0, 0.0, 2.0], pa.float64()),  # as pandas has it
        "Body": ["a", "b", "c", "d"],
        "Score": pa.array([1, -2, 3, 4], pa.int16()),
    },
    "votes": {
        "PostId": [0, 0, 3],
        "UserId": [1, 2, 0],
    },
}


def as_relbench(folder, tables=TABLES, manifest=MANIFEST):
    (folder / "db").mkdir(parents=True)
    for name, columns in tables.items():
        pq.write_table(pa.table(columns), folder / "db" / f"{name}.parquet")
    (folder / "manifest.yaml").write_text(manifest)
    task = folder / "tasks" / "user-badge"
    task.mkdir(parents=True)
    (task / "manifest.yaml").write_text(TASK)
    pq.write_table(pa.table({"UserId": [0], "WillGetBadge": [1]}), task / "train.parquet")
    return folder
