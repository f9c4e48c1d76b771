"""Copies the corpus of a fuzzer to a folder, unpacked: files of 64 KiB of padding are kept as .gz.

unpack_corpus.py NAME FOLDER
"""

from __future__ import annotations

import gzip
import pathlib
import sys


def main() -> None:
    """Copies what the command line says."""
    name, target = sys.argv[1], pathlib.Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted((pathlib.Path(__file__).parent / "corpus" / name).iterdir()):
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        (target / path.name.removesuffix(".gz")).write_bytes(data)


if __name__ == "__main__":
    main()
