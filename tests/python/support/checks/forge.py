"""Files that are wrong in one chosen way, with checksums repaired so that nothing else is."""

from __future__ import annotations

import struct
from pathlib import Path

import reference
import xxhash

HEADER = {
    "magic": (0, "8s"),
    "endian_mark": (8, "I"),
    "major_version": (12, "H"),
    "minor_version": (14, "H"),
    "header_bytes": (16, "I"),
    "num_sections": (20, "I"),
    "file_bytes": (24, "Q"),
    "flags": (32, "Q"),
    "num_rows": (40, "Q"),
    "num_columns": (48, "Q"),
    "order": (56, "Q"),
    "chunk_bytes": (64, "I"),
    "section_alignment": (68, "I"),
}
SECTION = {
    "kind": (0, "H"),
    "direction": (2, "H"),
    "dtype": (4, "H"),
    "reserved0": (6, "H"),
    "offset": (8, "Q"),
    "bytes": (16, "Q"),
    "rows": (24, "Q"),
    "columns": (32, "Q"),
    "first_chunk": (40, "Q"),
    "digest": (48, "Q"),
    "reserved1": (56, "Q"),
}


class Forgery:
    """The bytes of a valid file, to be changed and saved again."""

    def __init__(self, path):
        self.path = Path(path)
        self.data = bytearray(self.path.read_bytes())

    def header(self, name):
        offset, code = HEADER[name]
        return struct.unpack_from("<" + code, self.data, offset)[0]

    def set_header(self, **values):
        for name, value in values.items():
            offset, code = HEADER[name]
            struct.pack_into("<" + code, self.data, offset, value)

    def section(self, number, name):
        offset, code = SECTION[name]
        return struct.unpack_from("<" + code, self.data, 256 + 64 * number + offset)[0]

    def set_section(self, number, **values):
        for name, value in values.items():
            offset, code = SECTION[name]
            struct.pack_into("<" + code, self.data, 256 + 64 * number + offset, value)

    def find(self, kind, direction=0):
        """The number of a section, by reference.KINDS' name."""
        for number in range(self.header("num_sections")):
            name = reference.KINDS[self.section(number, "kind")]
            if (name, self.section(number, "direction")) == (kind, direction):
                return number
        raise LookupError(kind)

    def item_offset(self, number, item):
        dtype = reference.DTYPES[self.section(number, "dtype")]
        return self.section(number, "offset") + item * int(dtype[2:])

    def set_item(self, number, item, value):
        """Changes one item of a section."""
        dtype = reference.DTYPES[self.section(number, "dtype")]
        code = {"f4": "f", "i4": "i", "i8": "q", "u1": "B", "b1": "B"}[dtype[1:]]
        struct.pack_into("<" + code, self.data, self.item_offset(number, item), value)

    def repair_chunks(self):
        """Makes all checksums of sections right again."""
        table = self.find("checksums")
        sums = []
        for number in range(self.header("num_sections")):
            if number == table:
                continue
            offset, size = self.section(number, "offset"), self.section(number, "bytes")
            body = bytes(self.data[offset : offset + size])  # shorter, if the table is nonsense
            sums += [
                xxhash.xxh64_intdigest(body[at : at + reference.CHUNK])
                for at in range(0, len(body), reference.CHUNK)
            ]
        packed = struct.pack(f"<{len(sums)}Q", *sums)
        offset = self.section(table, "offset")
        self.data[offset : offset + len(packed)] = packed
        self.set_section(table, digest=xxhash.xxh64_intdigest(packed))

    def repair_header(self):
        struct.pack_into("<Q", self.data, 4088, xxhash.xxh64_intdigest(bytes(self.data[:4088])))

    def save(self, *, repair=True):
        if repair:
            self.repair_header()
        self.path.write_bytes(self.data)
        return self.path


def damage(path, kind, direction, item, value):
    """Puts a value into a section and makes the checksums right again."""
    forgery = Forgery(path)
    forgery.set_item(forgery.find(kind, direction), item, value)
    forgery.repair_chunks()
    return forgery.save()
