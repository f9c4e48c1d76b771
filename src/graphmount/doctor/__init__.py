"""What this machine can do, and what that means for a dataset: `graphmount doctor` in Python.

from graphmount.doctor import examine

report = examine("/data", dataset="/data/papers")
for finding in report.findings:
print(finding.subject, finding.text)
"""

from __future__ import annotations

from graphmount.doctor.dataset import BatchFacts, DatasetFacts, TableFacts
from graphmount.doctor.disk import Disk
from graphmount.doctor.estimate import Estimate
from graphmount.doctor.examination import MachineReport, examine
from graphmount.doctor.finding import Finding
from graphmount.doctor.io_uring import IoUring
from graphmount.doctor.machine import Machine
from graphmount.doctor.probe import DiskFigures, ReadFigure

__all__ = [
    "BatchFacts",
    "DatasetFacts",
    "Disk",
    "DiskFigures",
    "Estimate",
    "Finding",
    "IoUring",
    "Machine",
    "MachineReport",
    "ReadFigure",
    "TableFacts",
    "examine",
]
