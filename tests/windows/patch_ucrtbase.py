"""Gives a copy of Wine's own ucrtbase.dll the accessors of complex numbers that NumPy 2 calls.

Wine 8 exports crealf, cimag and their like as stubs that end the program. Their bodies are
overwritten here, and the mark of a DLL that is built into Wine is taken off, so that Wine loads it
as a file where WINEDLLOVERRIDES says ucrtbase=n,b.

usage: patch_ucrtbase.py WINES_DLL PATCHED_DLL
"""

import struct
import sys
from pathlib import Path

# A complex float comes in rcx as two floats, a complex double as its address in rcx; results go
# into xmm0.
BODIES = {
    "crealf": bytes.fromhex("660f6ec1c3"),  # movd xmm0, ecx; ret
    "cimagf": bytes.fromhex("48c1e920660f6ec1c3"),  # shr rcx, 32; movd xmm0, ecx; ret
    "creal": bytes.fromhex("f20f1001c3"),  # movsd xmm0, [rcx]; ret
    "creall": bytes.fromhex("f20f1001c3"),  # long double is double
    "cimag": bytes.fromhex("f20f104108c3"),  # movsd xmm0, [rcx + 8]; ret
    "cimagl": bytes.fromhex("f20f104108c3"),
}
MARK = b"Wine builtin DLL"


class Image:
    """A DLL's bytes, found by their addresses in memory (RVAs)."""

    def __init__(self, data: bytes):
        self.data = bytearray(data)
        self.header = self.number("<I", 0x3C)
        count = self.number("<H", self.header + 6)
        first = self.header + 24 + self.number("<H", self.header + 20)
        self.sections: list[tuple[int, ...]] = [
            struct.unpack_from("<IIII", self.data, first + 40 * i + 8) for i in range(count)
        ]

    def number(self, layout: str, at: int) -> int:
        value: int = struct.unpack_from(layout, self.data, at)[0]
        return value

    def at(self, address: int) -> int:
        for size, start, file_size, file_start in self.sections:
            if start <= address < start + max(size, file_size):
                return address - start + file_start
        raise ValueError(f"address {address:#x} is in no section")

    def exports(self) -> dict[str, int]:
        table = self.at(self.number("<I", self.header + 24 + 112))
        _, names, functions, name_list, ordinals = struct.unpack_from("<5I", self.data, table + 20)
        found = {}
        for i in range(names):
            start = self.at(self.number("<I", self.at(name_list) + 4 * i))
            name = bytes(self.data[start : self.data.index(0, start)]).decode("ascii")
            ordinal = self.number("<H", self.at(ordinals) + 2 * i)
            found[name] = self.number("<I", self.at(functions) + 4 * ordinal)
        return found


def main() -> int:
    source, target = sys.argv[1:]
    image = Image(Path(source).read_bytes())
    exports = image.exports()
    starts = sorted(set(exports.values()))
    for name, body in BODIES.items():
        address = exports[name]
        following = next((start for start in starts if start > address), address + 24)
        if following - address < len(body):
            sys.exit(f"{source}: {name} has {following - address} bytes of {len(body)} needed")
        at = image.at(address)
        image.data[at : at + len(body)] = body
    mark = image.data.find(MARK, 0, 0x100)
    if mark < 0:
        sys.exit(f"{source} does not bear Wine's mark {MARK.decode()!r}: it is not Wine's own")
    image.data[mark : mark + len(MARK)] = bytes(len(MARK))
    Path(target).write_bytes(image.data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
