"""What a wheel must do: one function a check, which raises Failed."""

import hashlib
import os
import re
import shutil
import tempfile
import zipfile
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pe
from environments import Environment, Failed, file_of_wheel, make_environment, run
from systems import System, system_of

ROOT = Path(__file__).resolve().parent.parent.parent
MODELS = ROOT / "tests/data/models"
# The blob of the model is OpenVINO 2025.4's.
OPENVINO = "openvino==2025.4.1"
# The quantized network's outputs reach 0.18, and one step of its int8 is 0.0015 of that; before it
# was quantized they were 0.0013 away.
BOUND = 1e-3


@dataclass
class Smoke:
    """A wheel, and what is checked with it; a control replaces one of them by something broken."""

    wheel: Path
    python: str
    folder: Path
    model: Path = MODELS / "int8_openvino.pte"
    arrays: Path = MODELS / "int8.npz"
    portable: Path = MODELS / "lstm_portable.pte"
    portable_arrays: Path = MODELS / "lstm.npz"
    requirement: list[Any] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    planted_bytes: bytes | None = None

    @cached_property
    def system(self) -> System:
        return system_of(self.wheel)

    def runs(self, program: Path, arrays: Path) -> str:
        """The task of probe.py that runs a program."""
        return f"runs={self.system.path(program)},{self.system.path(arrays)}"

    @cached_property
    def plain(self) -> Environment:
        """With this wheel and what it requires."""
        environment = make_environment(self.python, self.folder / "plain", self.system)
        environment.pip_install(self.wheel)
        return environment

    @cached_property
    def extra(self) -> Environment:
        """With this very wheel's extra, and the OpenVINO that the model was made beside."""
        environment = make_environment(self.python, self.folder / "extra", self.system)
        pinned = [f"pteron[openvino] @ {self.wheel.as_uri()}"]
        environment.pip_install(*(self.requirement or pinned), OPENVINO)
        return environment

    @cached_property
    def future(self) -> Environment:
        """With the extra as on a Python that OpenVINO has no build for."""
        environment = make_environment(self.python, self.folder / "future", self.system)
        environment.pip_install(f"pteron[openvino] @ {self.wheel.as_uri()}", another_python=True)
        return environment

    def altered(self, **changes: Any) -> "Smoke":
        """The same with something replaced; the environments are kept if the wheel is."""
        other = replace(self, **changes)
        if not {"wheel", "requirement", "folder"} & set(changes):
            for name in ("plain", "extra", "future"):
                if name in self.__dict__:
                    other.__dict__[name] = self.__dict__[name]
        return other


def expect(condition: bool, what: object) -> None:
    if not condition:
        raise Failed(str(what))


# ---- The file


def tag(smoke: Smoke) -> None:
    """The wheel's tag is that of glibc 2.28 or older, or of Windows x86-64, for any Python 3."""
    if smoke.system.windows:
        expect(
            re.fullmatch(r"pteron-[^-]+-py3-none-win_amd64\.whl", smoke.wheel.name) is not None,
            smoke.wheel.name,
        )
        return
    match = re.fullmatch(r"pteron-[^-]+-py3-none-manylinux_2_(\d+)_x86_64\.whl", smoke.wheel.name)
    expect(match is not None and int(match[1]) <= 28, smoke.wheel.name)


def contents(smoke: Smoke) -> None:
    """Smaller than 3 MB, with the package, SDK, command and licences of this checkout."""
    expect(smoke.wheel.stat().st_size < 3_000_000, f"{smoke.wheel.stat().st_size} bytes")
    with zipfile.ZipFile(smoke.wheel) as opened:
        names = set(opened.namelist())
        info = next(name.partition("/")[0] for name in names if ".dist-info/" in name)
        for name, file in sources(info).items():
            expect(name in names, f"there is no {name}")
            expect(opened.read(name) == file.read_bytes(), f"{name} is not {file}")
    files = [smoke.system.library, smoke.system.command, *(f"lib/cmake/pteron/{f}" for f in CMAKE)]
    if smoke.system.windows:
        files += ["lib/pteron.lib", "lib/libpteron.dll.a"]
    for name in files:
        expect(f"pteron/{name}" in names, f"there is no pteron/{name}")
    stray = [name for name in names if not re.match(r"pteron(-[^/]*\.dist-info)?/", name)]
    expect(not stray, f"stray files: {stray}")


CMAKE = (
    "pteron-config.cmake",
    "pteron-config-version.cmake",
    "pteron-targets.cmake",
    "pteron-targets-release.cmake",
)


def sources(info: str) -> dict[str, Path]:
    """What goes into a wheel as it is: names there, and the files of this checkout."""
    found = {}
    for folder, place in (("python/pteron", "pteron"), ("include", "pteron/include")):
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in (".py", ".typed", ".h", ".hpp"):
                found[f"{place}/{file.relative_to(ROOT / folder)}"] = file
    for name in ("LICENSE", "NOTICE", "THIRD-PARTY-NOTICES.md"):
        found[f"pteron/share/doc/{name}"] = ROOT / name
        found[f"{info}/licenses/{name}"] = ROOT / name
    return found


def symbols(smoke: Smoke) -> None:
    """The library exports pteron_ functions and nothing else, and copies by the C library; Windows'
    programs need the system's libraries only, and can be loaded anywhere."""
    if smoke.system.windows:
        windows_files(smoke)
        return
    with tempfile.NamedTemporaryFile(suffix=".so") as file:
        file.write(file_of_wheel(smoke.wheel, "lib/libpteron.so"))
        file.flush()
        exported = names_in(file.name, "--defined-only")
        used = names_in(file.name, "--undefined-only")
    expect(len(exported) > 20, f"only {exported}")
    stray = [name for name in exported if not name.startswith("pteron_")]
    expect(not stray, f"it also exports {stray}")
    # A compiler's own versions of these are slower.
    own = [name for name in ("memcpy", "memmove", "memset") if name not in used]
    expect(not own, f"it has its own {own}")


# What every Windows has; msvcrt.dll is the C library of what MinGW-w64 compiles.
SYSTEM_LIBRARIES = {"kernel32.dll", "msvcrt.dll", "psapi.dll", "shell32.dll", "advapi32.dll"}


def windows_files(smoke: Smoke) -> None:
    wanted = sorted((ROOT / "src/api/exports.txt").read_text().split())
    (version,) = re.findall(
        r"project\(pteron VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()
    )
    for name, exports in ((smoke.system.library, wanted), (smoke.system.command, [])):
        file = pe.Pe(file_of_wheel(smoke.wheel, name))
        expect(file.machine == pe.AMD64, f"{name} is for machine {file.machine:#x}")
        stray = sorted(set(file.exports) ^ set(exports))
        expect(not stray, f"{name} exports, or does not: {stray}")
        own = {"pteron.dll"} if exports == [] else set()
        others = set(file.imports) - SYSTEM_LIBRARIES - own
        expect(not others and file.imports != [], f"{name} needs {others or 'nothing'}")
        for flag in (pe.DYNAMIC_BASE, pe.NX_COMPAT, pe.HIGH_ENTROPY_VA):
            expect(file.characteristics & flag != 0, f"{name} lacks {flag:#x} of the protections")
        expect(file.has_relocations, f"{name} cannot be moved")
        expect(
            ".".join(map(str, file.version)) == f"{version}.0", f"{name} is version {file.version}"
        )
        said = file.version_text("ProductVersion")
        expect(said == version, f"{name} says that it is version {said!r}")
    for name in ("lib/pteron.lib", "lib/libpteron.dll.a"):
        data = file_of_wheel(smoke.wheel, name)
        without = [export for export in wanted if b"\0__imp_%s\0" % export.encode() not in data]
        expect(not without, f"{name} has no {without}")


def names_in(file: str, which: str) -> list[str]:
    """Symbols without their versions."""
    done = run(["nm", "-D", which, file])
    expect(done.returncode == 0, done.stderr)
    return [line.split()[-1].partition("@")[0] for line in done.stdout.splitlines()]


# ---- With the wheel alone


def registers(smoke: Smoke) -> None:
    """The delegate is registered, by the package and by pteron.runtime."""
    found = smoke.plain.probe("registered")["registered"]
    expect(found == {"backends": ["OpenvinoBackend"], "names": ["OpenvinoBackend"]}, found)


def runs_portable(smoke: Smoke) -> None:
    """A program without a delegate runs, from a path and from memory."""
    found = smoke.plain.probe(smoke.runs(smoke.portable, smoke.portable_arrays))["runs"]
    for source in ("path", "memory"):
        expect(found.get(source, {}).get("difference", 1) < 1e-5, found)


def command(smoke: Smoke) -> None:
    """The pteron command on PATH runs a program, and knows the extra."""
    done = smoke.plain.command("run", smoke.system.path(smoke.portable), "--json")
    expect(done.returncode == 0 and '"outputs"' in done.stdout, done.stderr or done.stdout)
    done = smoke.plain.command("doctor")
    said = done.stdout + done.stderr
    expect('pip install "pteron[openvino]"' in said and names_the_place(said), said)


def names_the_place(text: str) -> bool:
    """Where pip would have put OpenVINO."""
    return re.search(r"[/\\]openvino[/\\]libs", text) is not None


def names_the_extra(smoke: Smoke) -> None:
    """Without OpenVINO a delegated program fails, and the error says to install the extra."""
    found = smoke.plain.probe(smoke.runs(smoke.model, smoke.arrays))["runs"]
    error = found.get("error", "no error")
    expect(error.startswith("MissingError:"), error)
    expect('pip install "pteron[openvino]"' in error and names_the_place(error), error)


# ---- With the extra


def is_pinned(smoke: Smoke) -> None:
    """The library that runs is the one of the wheel under test."""
    wanted = hashlib.sha256(file_of_wheel(smoke.wheel, smoke.system.library)).hexdigest()
    found = smoke.extra.probe("library")["library"]
    expect(found == wanted, f"{found}, wanted {wanted}")


def is_available(smoke: Smoke) -> None:
    """The backend registry says that the delegate can be used."""
    found = smoke.extra.probe("available")["available"]
    expect(found is True, found)


def loads_installed(smoke: Smoke) -> None:
    """The pip-installed runtime is loaded, without its Python package."""
    found = smoke.extra.probe("place")["place"]
    libraries = (smoke.extra.packages.resolve() / "openvino/libs").glob(smoke.system.c_libraries)
    wanted = [smoke.system.path(library) for library in libraries]
    expect(len(wanted) == 1 and same_files(found, wanted) and not found["imported"], found)


def same_files(found: dict[str, Any], wanted: list[str]) -> bool:
    """Windows tells no case apart."""
    return [name.lower() for name in found.get("files", [])] == [name.lower() for name in wanted]


def delegates(smoke: Smoke) -> None:
    """OpenVINO runs the quantized model's operators, several of them in int8."""
    found = smoke.extra.probe(smoke.runs(smoke.model, smoke.arrays))["runs"]
    for source in ("path", "memory"):
        here = found.get(source, {})
        expect(here.get("operators", 0) >= 4 and here.get("int8", 0) >= 3, found)


def matches_eager(smoke: Smoke) -> None:
    """Its outputs are PyTorch's, from a path and from memory."""
    found = smoke.extra.probe(smoke.runs(smoke.model, smoke.arrays))["runs"]
    for source in ("path", "memory"):
        expect(found.get(source, {}).get("difference", 1) < BOUND, found)


def command_delegates(smoke: Smoke) -> None:
    """The pteron command finds that runtime too."""
    model, arrays = smoke.system.path(smoke.model), smoke.system.path(smoke.arrays)
    done = smoke.extra.command("run", model, "-i", arrays, "--json")
    expect(done.returncode == 0 and "OpenVINO 2025.4.1" in done.stdout, done.stderr or done.stdout)


# ---- A library that was planted in the current folder


def plant(smoke: Smoke, folder: Path) -> Path:
    """A copy of OpenVINO's C library under its bare name, with the rest of OpenVINO beside it."""
    libs = smoke.extra.packages / "openvino/libs"
    (c_library,) = libs.glob(smoke.system.c_libraries)
    for file in libs.iterdir():
        if file != c_library and file.is_file():
            os.link(file, folder / file.name)
    planted = folder / smoke.system.planted
    if smoke.planted_bytes is None:
        shutil.copy(c_library, planted)
    else:
        planted.write_bytes(smoke.planted_bytes)
    return planted


def loads_full_path(smoke: Smoke) -> None:
    """Named by its full path, a copy in the current folder is loaded."""
    with tempfile.TemporaryDirectory(dir=smoke.folder) as folder:
        planted = plant(smoke, Path(folder))
        place = smoke.system.path(planted.resolve())
        found = smoke.plain.probe(f"place={place}", cwd=Path(folder))["place"]
        expect(same_files(found, [place]), found)


def ignores_planted(smoke: Smoke) -> None:
    """By its bare name it is not: the current folder is not searched."""
    with tempfile.TemporaryDirectory(dir=smoke.folder) as folder:
        plant(smoke, Path(folder))
        for place in ("", smoke.system.planted):
            found = smoke.plain.probe(
                f"place={place}", "loaded", cwd=Path(folder), variables=smoke.variables
            )
            expect("MissingError" in found["place"].get("error", ""), found)
            expect(found["loaded"]["files"] == [], found)


# ---- On a Python that OpenVINO has no build for


def installs_without_runtime(smoke: Smoke) -> None:
    """The extra installs there, and brings no OpenVINO."""
    expect((smoke.future.packages / "pteron").is_dir(), "pteron was not installed")
    found = [file.name for file in smoke.future.packages.glob("openvino*")]
    expect(not found, f"it brought {found}")


def says_why(smoke: Smoke) -> None:
    """The error of a delegated program says why there is none, and what to do."""
    found = smoke.future.probe(f"remedy={smoke.system.path(smoke.model)},15")["remedy"]
    error = found.get("error", "no error")
    for words in (
        "MissingError",
        "no build for CPython 3.15",
        "use CPython 3.",
        "OPENVINO_LIB_PATH",
    ):
        expect(words in error, error)


CHECKS = (
    tag,
    contents,
    symbols,
    registers,
    runs_portable,
    command,
    names_the_extra,
    is_pinned,
    is_available,
    loads_installed,
    delegates,
    matches_eager,
    command_delegates,
    loads_full_path,
    ignores_planted,
    installs_without_runtime,
    says_why,
)
