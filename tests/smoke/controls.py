"""Breaks each thing that a check guards; the check must then fail."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import checks
import numpy as np
import pe
from checks import Smoke
from environments import (
    Change,
    Environment,
    Failed,
    file_of_wheel,
    make_environment,
    tampered_wheel,
)

Check = Callable[[Smoke], None]


def replaced(old: bytes, new: bytes) -> Change:
    def change(data: bytes) -> bytes:
        assert old in data, old
        return data.replace(old, new)

    return change


def with_files(smoke: Smoke, name: str, changes: dict[str, Change]) -> Smoke:
    """With a wheel whose files were changed, in an environment of its own."""
    folder = smoke.folder / name
    wheel = tampered_wheel(smoke.wheel, folder / "wheel", changes)
    other = smoke.altered(wheel=wheel, folder=folder)
    other.__dict__["plain"] = reinstalled(smoke, wheel)
    return other


def reinstalled(smoke: Smoke, wheel: Path) -> Environment:
    """One environment for all of them, since NumPy takes the longest."""
    environment = Environment(smoke.folder / "tampered", smoke.system)
    if not environment.folder.exists():
        make_environment(smoke.python, environment.folder, smoke.system).pip_install(smoke.wheel)
    environment.pip_install("--force-reinstall", "--no-deps", wheel)
    return environment


def with_other_results(smoke: Smoke) -> Smoke:
    """With arrays whose outputs are 0.002 away."""
    changed = {}
    for name in ("arrays", "portable_arrays"):
        file = smoke.folder / f"other_{name}.npz"
        with np.load(getattr(smoke, name)) as arrays:
            np.savez(file, **{n: a + 0.002 if n == "out0" else a for n, a in arrays.items()})
        changed[name] = file
    return smoke.altered(**changed)


@contextmanager
def without_runtime(smoke: Smoke) -> Iterator[Smoke]:
    (file,) = (smoke.extra.packages / "openvino/libs").glob(smoke.system.c_libraries)
    hidden = file.rename(file.with_name("hidden"))
    try:
        yield smoke
    finally:
        hidden.rename(file)


def unpinned(smoke: Smoke) -> Smoke:
    """The extra by its name, where a newer pteron is to be had too."""
    folder = smoke.folder / "unpinned"
    newer = tampered_wheel(
        smoke.wheel, folder / "wheels", {smoke.system.library: lambda data: data + b"\0"}, "99.0"
    )
    shutil.copy(smoke.wheel, newer.parent)
    return smoke.altered(
        folder=folder, requirement=["--find-links", newer.parent, "pteron[openvino]"]
    )


def without_marker(smoke: Smoke) -> Smoke:
    folder = smoke.folder / "unmarked"
    bare = tampered_wheel(
        smoke.wheel,
        folder / "wheel",
        {
            ".dist-info/METADATA": lambda data: re.sub(
                rb"(?m)^(Requires-Dist: openvino[^;]*);.*$", rb"\1; extra == 'openvino'", data
            )
        },
    )
    return smoke.altered(folder=folder, wheel=bare)


def controls(smoke: Smoke) -> Iterator[tuple[str, Smoke, tuple[Check, ...]]]:
    """What is broken, the state with that broken, and the checks that must fail then."""
    windows, library = smoke.system.windows, smoke.system.library
    newer = "win_arm64" if windows else "manylinux_2_34_x86_64"
    with without_runtime(smoke) as broken:
        yield (
            "the runtime cannot be loaded",
            broken,
            (
                checks.is_available,
                checks.loads_installed,
                checks.delegates,
                checks.matches_eager,
                checks.command_delegates,
            ),
        )
    yield (
        "the loader searches the current folder",
        # Windows has no such variable: there it is told to.
        smoke.altered(variables={"OPENVINO_LIB_PATH" if windows else "LD_LIBRARY_PATH": "."}),
        (checks.ignores_planted,),
    )
    yield (
        "the copy is no library",
        smoke.altered(planted_bytes=b"no library"),
        (checks.loads_full_path,),
    )
    yield (
        "the model has no delegate",
        smoke.altered(model=smoke.portable, arrays=smoke.portable_arrays),
        (checks.delegates, checks.names_the_extra),
    )
    yield (
        "the results are others",
        with_other_results(smoke),
        (checks.matches_eager, checks.runs_portable),
    )
    yield "the extra is not pinned", unpinned(smoke), (checks.is_pinned,)
    yield "the marker is removed", without_marker(smoke), (checks.installs_without_runtime,)
    yield (
        "the tag is a newer system's",
        smoke.altered(wheel=tampered_wheel(smoke.wheel, smoke.folder / "tag", tag=newer)),
        (checks.tag,),
    )
    yield (
        "a header is missing",
        with_files(smoke, "header", {"include/pteron/pteron.h": lambda _: None}),
        (checks.contents,),
    )
    yield (
        "another symbol is exported",
        with_files(
            smoke,
            "symbol",
            {library: replaced(b"\0pteron_version\0", b"\0qteron_version\0")},
        ),
        (checks.symbols,),
    )
    if windows:
        for what, change in without_protections(file_of_wheel(smoke.wheel, library)):
            yield what, with_files(smoke, "protection", {library: change}), (checks.symbols,)
    yield (
        "the delegate has another name",
        with_files(smoke, "name", {library: replaced(b"OpenvinoBackend", b"OpenvinoBackenb")}),
        (checks.registers,),
    )
    yield (
        "the command does not run",
        with_files(smoke, "command", {smoke.system.command: lambda _: b"#!/bin/sh\nexit 1\n"}),
        (checks.command,),
    )
    silent = with_files(smoke, "silent", {"pteron/_openvino.py": replaced(b"def remedy(", SILENT)})
    silent.__dict__["future"] = silent.plain
    yield "errors do not say what to do", silent, (checks.names_the_extra, checks.says_why)


def given(data: bytes) -> Change:
    return lambda _: data


def without_protections(data: bytes) -> Iterator[tuple[str, Change]]:
    """Changes of a Windows library's bytes: the flags are in its header."""
    header = int.from_bytes(data[0x3C:0x40], "little")
    place = header + 24 + 70
    for name, flag in (
        ("DYNAMIC_BASE", pe.DYNAMIC_BASE),
        ("NX_COMPAT", pe.NX_COMPAT),
        ("HIGH_ENTROPY_VA", pe.HIGH_ENTROPY_VA),
    ):
        flags = int.from_bytes(data[place : place + 2], "little") & ~flag
        bare = data[:place] + flags.to_bytes(2, "little") + data[place + 2 :]
        yield f"the library lacks {name}", given(bare)
    yield "it needs a library that is not the system's", replaced(b"msvcrt.dll\0", b"mycrt1.dll\0")
    fixed = (0xFEEF04BD).to_bytes(4, "little")
    yield "it has no version", replaced(fixed, bytes(4))


SILENT = b"def remedy(option=''):\n    return 'Sorry'\ndef unused("


def self_test(smoke: Smoke, report: Callable[[bool, str], None]) -> None:
    """Reports for each check of each control whether it failed, as it must."""
    controlled = set()
    for what, broken, must_fail in controls(smoke):
        for check in must_fail:
            controlled.add(check)
            try:
                check(broken)
            except Failed as failure:
                report(True, f"{what}: {check.__name__} fails: {str(failure)[:150]}")
            else:
                report(False, f"{what}: {check.__name__} does not notice")
    for check in checks.CHECKS:
        if check not in controlled:
            report(False, f"{check.__name__} has no control")
