"""What a Windows program or library says of itself, by Microsoft's "PE Format": exports, imports,
protections, version. The same on every system, without tools."""

import struct
from dataclasses import dataclass
from pathlib import Path

# DllCharacteristics
HIGH_ENTROPY_VA, DYNAMIC_BASE, NX_COMPAT = 0x20, 0x40, 0x100
AMD64 = 0x8664


@dataclass
class Directory:
    rva: int
    size: int


class Pe:
    """A 64-bit file; ValueError where it is none."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        if data[:2] != b"MZ":
            raise ValueError("it does not begin with MZ")
        header = self.number("<I", 0x3C)
        if data[header : header + 4] != b"PE\0\0":
            raise ValueError("it has no PE header")
        self.machine = self.number("<H", header + 4)
        count = self.number("<H", header + 6)
        optional = header + 24
        if self.number("<H", optional) != 0x20B:
            raise ValueError("it is no 64-bit file")
        self.flags = self.number("<H", header + 22)
        self.characteristics = self.number("<H", optional + 70)
        table = optional + self.number("<H", header + 20)
        # Of each: where in memory, how much, where in the file.
        self.sections = [
            (
                self.number("<I", table + 40 * i + 12),
                max(self.number("<I", table + 40 * i + 8), self.number("<I", table + 40 * i + 16)),
                self.number("<I", table + 40 * i + 20),
            )
            for i in range(count)
        ]
        self.directories = [
            Directory(
                self.number("<I", optional + 112 + 8 * i), self.number("<I", optional + 116 + 8 * i)
            )
            for i in range(self.number("<I", optional + 108))
        ]

    def number(self, form: str, offset: int) -> int:
        found: int = struct.unpack_from(form, self.data, offset)[0]
        return found

    def offset(self, rva: int) -> int:
        for start, size, place in self.sections:
            if start <= rva < start + size:
                return rva - start + place
        raise ValueError(f"no section has the address {rva:#x}")

    def text(self, rva: int) -> str:
        start = self.offset(rva)
        return self.data[start : self.data.index(b"\0", start)].decode("ascii")

    @property
    def name(self) -> str:
        """What the export table calls the file."""
        return self.text(self.number("<I", self.offset(self.directories[0].rva) + 12))

    @property
    def exports(self) -> list[str]:
        """Names in the order of the table; a function without a name is "#" and its ordinal."""
        if self.directories[0].rva == 0:
            return []
        table = self.offset(self.directories[0].rva)
        base, functions, names = struct.unpack_from("<III", self.data, table + 16)
        places, name_list, ordinals = struct.unpack_from("<III", self.data, table + 28)
        found = {}
        for i in range(names):
            index = self.number("<H", self.offset(ordinals) + 2 * i)
            found[index] = self.text(self.number("<I", self.offset(name_list) + 4 * i))
        return sorted(
            found.get(i, f"#{base + i}")
            for i in range(functions)
            if self.number("<I", self.offset(places) + 4 * i)
        )

    @property
    def imports(self) -> list[str]:
        """The libraries that the system loads with it, delayed ones included; in lower case."""
        found = []
        for index, size, place in ((1, 20, 12), (13, 32, 4)):
            if index >= len(self.directories) or self.directories[index].rva == 0:
                continue
            entry = self.offset(self.directories[index].rva)
            while name := self.number("<I", entry + place):
                found.append(self.text(name).lower())
                entry += size
        return sorted(found)

    @property
    def has_relocations(self) -> bool:
        """Without them, or with the flag that they were stripped, it cannot be moved."""
        return self.directories[5].size > 0 and not self.flags & 1

    @property
    def version(self) -> tuple[int, ...]:
        """FILEVERSION of the version resource; empty without one."""
        place = self.data.find(struct.pack("<II", 0xFEEF04BD, 0x10000))
        if self.directories[2].rva == 0 or place < 0:
            return ()
        high, low = struct.unpack_from("<II", self.data, place + 8)
        return (high >> 16, high & 0xFFFF, low >> 16, low & 0xFFFF)

    def version_text(self, key: str) -> str:
        """A string of the version resource; empty without it."""
        wide = f"{key}\0".encode("utf-16-le")
        place = self.data.find(wide)
        if place < 0:
            return ""
        place += len(wide)
        place += -place % 4  # Values begin at multiples of 4 in the file, as in memory.
        end = place
        while self.data[end : end + 2] != b"\0\0":
            end += 2
        return self.data[place:end].decode("utf-16-le")


def read(file: Path) -> Pe:
    return Pe(file.read_bytes())
