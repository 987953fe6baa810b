#!/usr/bin/env python3
"""Runs the `pteron` command as a user would.

usage: command_test.py [Class.test]...     with these variables, which ctest sets:
PTERON_COMMAND, PTERON_WRITE_PROGRAMS, PTERON_GOLDEN (unpacked programs), PTERON_MODELS,
PTERON_HAS_OPENVINO (0: the build is without), PTERON_FAKES (fake OpenVINOs),
PTERON_OPENVINO_2025_4, _2026_4, _2025_0 (folders of real ones' libraries; may be unset),
PTERON_EMULATOR (what runs a command for Windows here: tests/windows/wine_run; unset for Linux's)
"""

import contextlib
import fcntl
import io
import json
import os
import pty
import re
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

COMMAND = os.environ["PTERON_COMMAND"]
EMULATOR = os.environ.get("PTERON_EMULATOR", "")
ON_WINDOWS = EMULATOR != ""
START = [EMULATOR, COMMAND] if ON_WINDOWS else [COMMAND]
PORTABLE = Path(os.environ["PTERON_GOLDEN"]) / "portable"
MODELS = Path(os.environ["PTERON_MODELS"])
WRITE_PROGRAMS = os.environ["PTERON_WRITE_PROGRAMS"]
HAS_OPENVINO = os.environ["PTERON_HAS_OPENVINO"] == "1"
FAKES = Path(os.environ["PTERON_FAKES"])
C_LIBRARY = "openvino_c.dll" if ON_WINDOWS else "libopenvino_c.so.2541"
MLP = PORTABLE / "extra__mlp/model.pte"
LSTM = MODELS / "lstm_openvino.pte"
Test = TypeVar("Test", bound=Callable[..., None] | type)
NO_SUCH_FILE = "" if ON_WINDOWS else "No such file"  # Windows' words differ by language.
# Statuses of docs/command.md.
DONE, WRONG_USE, MALFORMED, MISSING, FAILED = 0, 2, 3, 4, 5


def only_linux(reason: str) -> Callable[[Test], Test]:
    return unittest.skipIf(ON_WINDOWS, f"only on Linux: {reason}")


def native(path: object) -> str:
    """As the command's system writes an absolute path: drive Z is this system's root."""
    if ON_WINDOWS and isinstance(path, Path) and path.is_absolute():
        return "Z:" + str(path).replace("/", "\\")
    return str(path)


class Done:
    def __init__(self, status: int, out: str, err: str):
        self.status, self.out, self.err = status, out, err

    def __repr__(self) -> str:
        return f"status {self.status}\nstdout: {self.out}\nstderr: {self.err}"


class CommandTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def run_command(self, *arguments: object, cwd: Path | None = None, **variables: str) -> Done:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENVINO")}
        environment.pop("INTEL_OPENVINO_DIR", None)
        done = subprocess.run(
            [*START, *map(native, arguments)],
            capture_output=True,
            cwd=cwd or self.folder,
            env={**environment, **variables},
            timeout=120,
            check=False,
        )
        out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
        if ON_WINDOWS:
            out, err = out.replace("\r\n", "\n"), err.replace("\r\n", "\n")
        return Done(done.returncode, out, err)

    def expect(self, done: Done, status: int, *parts: str) -> None:
        """The status, an error line that has these parts, and nothing that looks like a result."""
        self.assertEqual(done.status, status, done)
        if status != DONE:
            self.assert_no_result(done)
            lines = done.err.strip().splitlines()
            self.assertTrue(lines[-1].startswith("pteron: "), done)
        for part in parts:
            self.assertIn(part, done.err if status != DONE else done.out, done)

    def assert_no_result(self, done: Done) -> None:
        """Nothing on stdout, or for --json the failure alone."""
        if not done.out:
            return
        said = json.loads(done.out)
        self.assertEqual(sorted(said), ["error", "format"], done)
        self.assertEqual(said["error"]["status"], done.status, done)
        self.assertEqual(done.err.splitlines()[-1], "pteron: " + said["error"]["message"], done)

    def need_openvino(self) -> None:
        if not HAS_OPENVINO:
            self.skipTest("the build has no OpenVINO (PTERON_OPENVINO=OFF)")

    def save(self, name: str, array: np.ndarray) -> Path:
        path = self.folder / name
        np.save(path, array)
        return path

    def openvino(self, version: str) -> Path:
        self.need_openvino()
        path = os.environ.get(f"PTERON_OPENVINO_{version}")
        if not path:
            self.skipTest(f"OpenVINO {version} is not installed for tests")
        return Path(path)


class Use(CommandTest):
    def test_version_and_help_are_results(self) -> None:
        done = self.run_command("--version")
        self.assertRegex(done.out, r"^pteron \d+\.\d+\.\d+")
        for command in ("run", "info", "bench", "profile", "devices", "doctor"):
            done = self.run_command(command, "--help")
            self.expect(done, DONE, "--json", "--openvino")
            self.assertEqual(done.err, "", done)

    def test_an_unknown_command_is_answered_with_those_there_are(self) -> None:
        self.expect(self.run_command("frobnicate"), WRONG_USE, '"frobnicate"', "run", "doctor")

    def test_an_unknown_option_is_named(self) -> None:
        self.expect(self.run_command("run", MLP, "--frobnicate"), WRONG_USE, "--frobnicate")

    def test_no_command_and_no_model_are_wrong_use(self) -> None:
        self.assertEqual(self.run_command().status, WRONG_USE)
        self.expect(self.run_command("run"), WRONG_USE, "MODEL")

    def test_values_of_options_are_checked(self) -> None:
        for option, value in (
            ("--precision", "f31"),
            ("--threads", "-1"),
            ("--threads", "many"),
            ("--hint", "speed"),
            ("--config", "NO_EQUALS_SIGN"),
            ("--shape", "0"),
            ("--shape", "0=axb"),
            ("--shape", "7=1x2"),
        ):
            with self.subTest(option=option, value=value):
                self.expect(self.run_command("run", MLP, option, value), WRONG_USE, value)


class Files(CommandTest):
    def test_what_is_not_there_or_no_file_is_wrong_use(self) -> None:
        self.expect(self.run_command("run", "nowhere.pte"), WRONG_USE, "nowhere.pte", NO_SUCH_FILE)
        self.expect(self.run_command("info", self.folder), WRONG_USE, native(self.folder))

    @only_linux("Windows has no such files in folders")
    def test_what_is_no_regular_file_is_wrong_use_at_once(self) -> None:
        os.mkfifo(self.folder / "pipe.pte")  # Opening it would wait for a writer.
        self.expect(self.run_command("info", "pipe.pte"), WRONG_USE, "pipe.pte", "regular file")
        self.expect(self.run_command("info", "/dev/zero"), WRONG_USE, "/dev/zero")

    def test_files_that_are_no_programs_are_malformed(self) -> None:
        whole = MLP.read_bytes()
        for name, data, part in (
            ("empty", b"", "empty"),
            ("text", b"import torch\n" * 50, "text"),
            ("zip", b"PK\x03\x04" + bytes(200), "zip"),
            ("cut", whole[: len(whole) // 2], "cut"),
        ):
            with self.subTest(name):
                path = self.folder / f"{name}.pte"
                path.write_bytes(data)
                for command in ("run", "info", "bench", "profile"):
                    done = self.run_command(command, path)
                    self.expect(done, MALFORMED, path.name)
                    self.assertIn(part, done.err.lower(), done)

    def test_names_with_spaces_and_other_scripts_work(self) -> None:
        folder = self.folder / "Ordner mit Leerzeichen 模型 é"
        folder.mkdir()
        model = folder / "модель 1.pte"
        shutil.copy(MLP, model)
        shape = self.input_shape(MLP)
        np.save(folder / "вход.npy", np.zeros(shape, np.float32))
        done = self.run_command(
            "run", model.name, "-i", "вход.npy", "-o", "выход.npz", "--device", "none", cwd=folder
        )
        self.expect(done, DONE)
        self.assertEqual(list(np.load(folder / "выход.npz")), ["out0"])

    def input_shape(self, model: Path) -> list[int]:
        info = json.loads(self.run_command("info", model, "--json").out)
        shape = info["methods"][0]["inputs"][0]["shape"]
        return [int(dim) for dim in shape]

    def test_an_output_that_cannot_be_written_is_wrong_use_and_leaves_nothing(self) -> None:
        done = self.run_command("run", MLP, "-o", self.folder / "no/such/folder/out.npz")
        self.expect(done, WRONG_USE, "out.npz")
        self.assertEqual(os.listdir(self.folder), [])

    def test_external_weights_are_named_where_they_are_missing(self) -> None:
        case = PORTABLE / "models__ModuleLinear_ptd"
        self.expect(self.run_command("run", case / "model.pte"), MISSING, "--weights")
        done = self.run_command(
            "run", case / "model.pte", "--weights", case / "_default_external_constant.ptd"
        )
        self.expect(done, DONE, "out0")
        broken = self.folder / "broken.ptd"
        broken.write_bytes((case / "_default_external_constant.ptd").read_bytes()[:100])
        done = self.run_command("run", case / "model.pte", "--weights", broken)
        self.expect(done, MALFORMED, "broken.ptd")
        done = self.run_command("run", case / "model.pte", "--weights", "nowhere.ptd")
        self.expect(done, WRONG_USE, "nowhere.ptd")

    @only_linux("the loader's own tests plant DLLs")
    def test_a_planted_library_in_the_current_folder_is_not_loaded(self) -> None:
        self.need_openvino()
        mark = self.folder / "loaded"
        source = self.folder / "planted.c"
        source.write_text(
            "#include <stdio.h>\n__attribute__((constructor)) static void planted(void) "
            f'{{ fclose(fopen("{mark}", "w")); }}\n'
        )
        planted = self.folder / "libopenvino_c.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", planted, source], check=True)
        for name in ("libopenvino_c.so.2541", "libopenvino.so"):
            shutil.copy(planted, self.folder / name)
        self.run_command("doctor")
        self.run_command("run", LSTM)
        self.assertFalse(mark.exists())
        # The same library is loaded where it is asked for: so the mark can be made.
        self.run_command("doctor", "--openvino", planted)
        self.assertTrue(mark.exists())

    def test_a_bad_value_of_the_variable_is_told_with_the_variable(self) -> None:
        self.need_openvino()
        done = self.run_command("run", LSTM, OPENVINO_LIB_PATH="nonsense")
        self.expect(done, MISSING, "$OPENVINO_LIB_PATH=nonsense (", "Correct OPENVINO_LIB_PATH")

    def test_a_tilde_that_no_shell_expands_is_pointed_out(self) -> None:
        remedy = "~ is not expanded here"
        self.expect(self.run_command("run", "~/none.pte"), WRONG_USE, remedy)
        self.expect(self.run_command("run", MLP, "-i", "~/none.npy"), WRONG_USE, remedy)
        self.expect(self.run_command("run", MLP, "-o", "~/none/y.npz"), WRONG_USE, remedy)
        self.expect(self.run_command("run", MLP, "--cache=~/none"), WRONG_USE, remedy)

    def test_a_tilde_in_the_path_of_openvino_is_pointed_out(self) -> None:
        self.need_openvino()
        done = self.run_command("doctor", "--openvino=~/none")
        self.assertIn("~ is not expanded here", done.out)


class Inputs(CommandTest):
    def test_their_number_dtype_and_shape_are_checked(self) -> None:
        shape = np.load(PORTABLE / "extra__mlp/io_0.npz")["in_0"].shape
        good = self.save("good.npy", np.zeros(shape, np.float32))
        self.expect(self.run_command("run", MLP, "-i", good), DONE, "out0", "float32")
        self.expect(self.run_command("run", MLP, "-i", good, "-i", good), WRONG_USE, "2", "1")
        wide = self.save("wide.npy", np.zeros(shape, np.float64))
        self.expect(self.run_command("run", MLP, "-i", wide), WRONG_USE, "float64", "float32")
        long = self.save("long.npy", np.zeros((*shape, 2), np.float32))
        self.expect(self.run_command("run", MLP, "-i", long), WRONG_USE, "input 0")
        self.expect(self.run_command("run", MLP, "-i", "true"), WRONG_USE, "input 0")

    def test_results_are_those_of_eager_pytorch_and_exact_in_shape_and_dtype(self) -> None:
        case = PORTABLE / "extra__mlp"
        data = np.load(case / "io_0.npz")
        path = self.save("x.npy", data["in_0"])
        self.expect(self.run_command("run", MLP, "-i", path, "-o", "y.npz"), DONE)
        with np.load(self.folder / "y.npz") as results:
            want = data["eager_0"]
            self.assertEqual(list(results), ["out0"])
            self.assertEqual(results["out0"].dtype, want.dtype)
            np.testing.assert_allclose(results["out0"], want, rtol=1e-5, atol=1e-5)

    def test_fortran_order_means_the_same_numbers(self) -> None:
        data = np.load(PORTABLE / "extra__mlp/io_0.npz")
        path = self.save("x.npy", np.asfortranarray(data["in_0"]))
        self.assertIn(b"'fortran_order': True", path.read_bytes()[:128])
        self.expect(self.run_command("run", MLP, "-i", path, "-o", "y.npz"), DONE)
        with np.load(self.folder / "y.npz") as results:
            np.testing.assert_allclose(results["out0"], data["eager_0"], rtol=1e-5, atol=1e-5)

    def test_an_archive_gives_its_arrays_by_name_whatever_their_order(self) -> None:
        case = PORTABLE / "models__ModuleAddMul_ptd"
        info = json.loads(self.run_command("info", case / "model.pte", "--json").out)
        inputs = info["methods"][0]["inputs"]
        arrays = {
            f"in{i}": np.full(spec["shape"], i + 1, spec["dtype"]) for i, spec in enumerate(inputs)
        }
        files = {name: self.npy(array) for name, array in reversed(arrays.items())}
        (self.folder / "x.npz").write_bytes(self.archive(files))
        weights = case / "_default_external_constant.ptd"
        done = self.run_command("run", case / "model.pte", "-i", "x.npz", "--weights", weights)
        self.expect(done, DONE, "out0")

    def test_hostile_arrays_are_refused(self) -> None:
        data = self.npy(np.zeros(4, np.float32))

        def header(text: str) -> bytes:
            return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()

        huge = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }\n"
        hostile = {
            "empty.npy": b"",
            "magic.npy": b"\x93NUMPX" + data[6:],
            "cut_header.npy": data[:20],
            "cut_data.npy": data[:-3],
            "long_header.npy": b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + data[10:],
            "huge.npy": header(huge % "4611686018427387904, 4611686018427387904,"),
            "overflow.npy": header(huge % "9223372036854775807, 8,"),
            "more_than_a_number.npy": header(huge % "99999999999999999999999,"),
            "negative.npy": header(huge % "-1,"),
            "object.npy": header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n"),
            "big_endian.npy": header("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }\n"),
            "order.npy": header("{'descr': '<f4', 'fortran_order': Fals!, 'shape': (1,), }\n"),
            "no_shape.npy": header("{'descr': '<f4', 'fortran_order': False, }\n"),
            "text.npz": b"not an archive",
            "cut.npz": self.archive({"in0": data})[:-30],
        }
        for name, content in hostile.items():
            with self.subTest(name):
                path = self.folder / name
                path.write_bytes(content)
                self.expect(self.run_command("run", MLP, "-i", path), WRONG_USE, name)
        path = self.folder / "fields.npy"
        np.save(path, np.zeros(2, [("a", "<f4"), ("b", "<f4")]))
        self.expect(self.run_command("run", MLP, "-i", path), WRONG_USE, "structured", 'x["name"]')

    @only_linux("Wine itself needs more address space than the test leaves")
    def test_an_archive_that_unpacks_to_much_takes_no_memory_for_it(self) -> None:
        def header(count: int) -> bytes:
            text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({count},), }}\n"
            return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()

        def small() -> None:
            # OpenVINO is not there, and what the library maps is less than 256 MB.
            resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))

        bare = subprocess.run(
            [*START, "--version"], preexec_fn=small, check=False, capture_output=True
        )
        if bare.returncode != DONE:
            self.skipTest(
                "this build needs more address space than the test leaves it: sanitizers do"
            )
        zeros = bytes(500_000_000)
        for name, declared in (("honest", 125_000_000), ("hidden", 8), ("none", 0)):
            path = self.folder / f"{name}.npz"
            path.write_bytes(self.archive({"in0": header(declared) + zeros}))
            done = subprocess.run(
                [*START, "run", MLP, "--device", "none", "-i", path],
                capture_output=True,
                text=True,
                preexec_fn=small,
                check=False,
            )
            self.assertEqual(done.returncode, WRONG_USE, done)
            self.assertIn(path.name, done.stderr)
            self.assertIn("input 0" if name == "honest" else "fewer bytes", done.stderr)
        self.expect(self.run_command("run", MLP, "-i", ""), WRONG_USE, "--input", "empty")

    def npy(self, array: np.ndarray) -> bytes:
        out = io.BytesIO()
        np.save(out, array)
        return out.getvalue()

    def archive(self, files: dict[str, bytes]) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(f"{name}.npy", data)
        return out.getvalue()

    def test_a_dynamic_shape_can_be_given_for_inputs_that_are_made_up(self) -> None:
        model = MODELS / "pnet_dynamic_portable.pte"
        for height, width in ((48, 64), (24, 126)):
            done = self.run_command("run", model, "--shape", f"0=1x3x{height}x{width}", "--json")
            self.expect(done, DONE)
            shapes = [output["shape"] for output in json.loads(done.out)["outputs"]]
            rows, columns = -(-(height - 2) // 2) - 4, -(-(width - 2) // 2) - 4
            self.assertIn([1, 4, rows, columns], shapes, done)
        self.expect(self.run_command("run", model, "--shape", "0=1x3x9999x9"), WRONG_USE, "9999")

    def test_an_input_smaller_than_a_kernel_is_an_error_and_no_empty_result(self) -> None:
        done = self.run_command("run", MODELS / "pnet_dynamic_portable.pte", "--shape", "0=1x3x2x2")
        self.expect(done, WRONG_USE, "aten::convolution.out", "argument 0", "leaves nothing")


class Results(CommandTest):
    def test_json_is_one_object_and_messages_are_elsewhere(self) -> None:
        done = self.run_command("run", MLP, "--json")
        result = json.loads(done.out)
        for key in ("format", "method", "load_ms", "run_ms", "outputs", "execution"):
            self.assertIn(key, result)
        self.assertEqual(result["outputs"][0]["dtype"], "float32")
        self.assertIn("made up", done.err)
        result = json.loads(self.run_command("bench", MLP, "--seconds", "0.2", "--json").out)
        for key in (
            "latency_p50_ms",
            "latency_p99_ms",
            "throughput_per_s",
            "load_ms",
            "first_run_ms",
            "peak_rss_mb",
        ):
            self.assertGreater(result[key], 0, key)
        self.assertIn("methods", json.loads(self.run_command("info", MLP, "--json").out))
        self.assertIn("instructions", json.loads(self.run_command("profile", MLP, "--json").out))
        json.loads(self.run_command("doctor", "--json").out)

    def test_made_up_inputs_are_the_same_each_time(self) -> None:
        first = json.loads(self.run_command("run", MLP, "--json").out)["outputs"]
        self.assertEqual(json.loads(self.run_command("run", MLP, "--json").out)["outputs"], first)

    def test_quiet_leaves_the_results_only(self) -> None:
        done = self.run_command("run", MLP, "--quiet")
        self.expect(done, DONE, "out0")
        self.assertEqual(done.err, "", done)

    def test_a_table_is_aligned_and_has_no_escapes(self) -> None:
        done = self.run_command("run", MLP)
        lines = done.out.splitlines()
        self.assertTrue(lines[0].startswith("output"), done)
        self.assertEqual(lines[0].index("dtype"), lines[1].index("float32"), done)
        self.assertNotIn("\x1b", done.out + done.err)

    def test_info_shows_programs_for_other_backends(self) -> None:
        done = self.run_command("info", MODELS / "lstm_xnnpack.pte")
        self.expect(done, DONE, "XnnpackBackend")
        self.expect(self.run_command("run", MODELS / "lstm_xnnpack.pte"), MISSING, "XnnpackBackend")

    @only_linux("Wine's own pipe stays open")
    def test_a_closed_pipe_is_no_error(self) -> None:
        for arguments in (["info", MLP], ["run", MLP, "--json"], ["profile", MLP]):
            with self.subTest(arguments[0]):
                process = subprocess.Popen(
                    [*START, *map(str, arguments)],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=self.folder,
                )
                assert process.stdout and process.stderr
                process.stdout.close()  # Nobody reads.
                err = process.stderr.read().decode()
                process.stderr.close()
                self.assertIn(process.wait(), (DONE, -signal.SIGPIPE), err)
                self.assertNotIn("pteron: ", err)

    @only_linux("a signal ends Wine's starter, not the program")
    def test_an_interrupt_ends_it_at_once(self) -> None:
        process = subprocess.Popen(
            [*START, "bench", str(MLP), "--seconds", "60"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
        )
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        self.assertEqual(process.returncode, -signal.SIGINT)

    @only_linux("Wine's console is none of Linux's terminals")
    def test_a_terminal_gets_the_same_table(self) -> None:
        main, side = pty.openpty()
        process = subprocess.Popen(
            [*START, "run", str(MLP)], stdout=side, stderr=subprocess.PIPE, cwd=self.folder
        )
        os.close(side)
        process.communicate(timeout=60)
        text = os.read(main, 100_000).decode()
        os.close(main)
        self.assertEqual(process.returncode, DONE)
        self.assertIn("out0", text)

    def test_bench_runs_methods_side_by_side(self) -> None:
        done = self.run_command("bench", MLP, "--seconds", "0.3", "--parallel", "3", "--json")
        self.expect(done, DONE)
        self.assertEqual(json.loads(done.out)["parallel"], 3)
        self.expect(self.run_command("bench", MLP, "--parallel", "0"), WRONG_USE, "--parallel")

    def test_profile_names_each_instruction_and_writes_a_trace(self) -> None:
        done = self.run_command("profile", MLP, "-o", "trace.json")
        self.expect(done, DONE, "aten::")
        trace = json.loads((self.folder / "trace.json").read_text())
        self.assertTrue(any("aten::" in event.get("name", "") for event in trace["traceEvents"]))


class Openvino(CommandTest):
    def test_a_delegated_program_agrees_with_eager_pytorch(self) -> None:
        data = np.load(MODELS / "lstm.npz")
        path = self.save("x.npy", data["in0"])
        library = self.openvino("2025_4")
        done = self.run_command(
            "run", LSTM, "-i", path, "-o", "y.npz", "--openvino", library, "--json"
        )
        self.expect(done, DONE)
        row = json.loads(done.out)["execution"][0]
        self.assertEqual((row["device"], row["precision"]), ("CPU", "f32"))
        with np.load(self.folder / "y.npz") as results:
            np.testing.assert_allclose(results["out0"], data["out0"], rtol=1e-5, atol=1e-5)

    def test_none_found_names_the_remedy_and_doctor_says_where_it_looked(self) -> None:
        self.need_openvino()
        missing = self.folder / "nothing"
        missing.mkdir()
        for arguments in (["run", LSTM], ["doctor"], ["devices"]):
            done = self.run_command(*arguments, "--openvino", missing)
            self.assertEqual(done.status, MISSING, done)
            self.assertIn(native(missing), done.out + done.err)

    def test_one_that_is_too_old_is_refused_with_both_versions(self) -> None:
        done = self.run_command("run", LSTM, "--openvino", self.openvino("2025_0"))
        self.expect(done, MISSING, "2025.0", "2025.1")
        self.expect(self.run_command("run", LSTM, "--openvino", FAKES / "old"), MISSING, "2025.1")

    def test_one_that_lacks_a_function_names_it(self) -> None:
        self.need_openvino()
        done = self.run_command("run", LSTM, "--openvino", FAKES / "without_infer")
        self.expect(done, MISSING, "ov_infer_request_infer")

    def test_a_broken_library_says_what_the_system_says(self) -> None:
        self.need_openvino()
        broken = self.folder / C_LIBRARY
        broken.write_bytes(b"not a library")
        self.expect(self.run_command("run", LSTM, "--openvino", broken), MISSING, native(broken))

    def test_an_installation_that_lacks_a_part_is_blamed_and_no_model(self) -> None:
        parts = ["libopenvino_ir_frontend.so.2541", "libopenvino_intel_cpu_plugin.so"]
        if ON_WINDOWS:
            parts = ["openvino_ir_frontend.dll", "openvino_intel_cpu_plugin.dll"]
        for part in parts:
            folder = self.folder / part
            folder.mkdir()
            for file in Path(self.openvino("2025_4")).iterdir():
                if file.name == part:
                    continue
                # Links to them would be followed to the whole one.
                if re.match(r"(lib)?openvino(_c)?\.(so|dll)", file.name):
                    shutil.copy(file, folder)
                else:
                    (folder / file.name).symlink_to(file)
            for command in (["run", LSTM], ["doctor"]):
                # OpenVINO unloads parts of a broken installation, and leaks what they made: nothing
                # names it, so it cannot be told from leaks of ours.
                leaks = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
                done = self.run_command(*command, "--openvino", folder, ASAN_OPTIONS=leaks)
                self.assertEqual(done.status, MISSING, done)
                for words in (part + " beside", native(folder), "--force-reinstall"):
                    self.assertIn(words, done.out + done.err, done)
                self.assertNotIn("damaged", done.out + done.err)

    def test_a_device_that_is_not_there_is_named_with_those_that_are(self) -> None:
        done = self.run_command(
            "run", LSTM, "--device", "NPU", "--openvino", self.openvino("2025_4")
        )
        self.expect(done, MISSING, "NPU", "CPU")

    def test_devices_that_import_no_blob_are_refused_with_the_remedy(self) -> None:
        library = self.openvino("2025_4")
        for device in ("AUTO", "AUTO:GPU,CPU", "HETERO:GPU,CPU", "MULTI:CPU"):
            with self.subTest(device):
                done = self.run_command("run", LSTM, "--device", device, "--openvino", library)
                self.assertNotEqual(done.status, DONE)
                self.expect(done, done.status, device, "such as CPU")

    def test_devices_are_listed_and_the_doctor_is_content(self) -> None:
        library = self.openvino("2025_4")
        self.expect(self.run_command("devices", "--openvino", library), DONE, "CPU", "FP32")
        self.expect(self.run_command("doctor", "--openvino", library), DONE, "can run on OpenVINO")

    def test_a_wrong_property_is_named(self) -> None:
        done = self.run_command(
            "run", LSTM, "--config", "NO_SUCH=1", "--openvino", self.openvino("2025_4")
        )
        self.assertNotEqual(done.status, DONE)
        self.expect(done, done.status, "NO_SUCH")

    def test_a_program_without_delegates_needs_none(self) -> None:
        missing = self.folder / "nothing"
        missing.mkdir()
        self.expect(self.run_command("run", MLP, "--openvino", missing), DONE, "out0")
        self.expect(self.run_command("run", MLP, "--device", "none"), DONE, "out0")
        self.expect(self.run_command("run", LSTM, "--device", "none"), MISSING, "OpenvinoBackend")


class Versions(CommandTest):
    """The main job on each OpenVINO for which there are programs."""

    def report(self, openvino: Path) -> dict[str, Any]:
        """What doctor and devices say, which must be well."""
        self.expect(self.run_command("doctor", "--openvino", openvino), DONE, "can run on OpenVINO")
        done = self.run_command("devices", "--json", "--openvino", openvino)
        self.expect(done, DONE)
        said: dict[str, Any] = json.loads(done.out)
        self.assertIn("CPU", [device["name"] for device in said["devices"]])
        self.assertTrue(said["openvino"]["file"].startswith(native(openvino)), said)
        return said

    def run_and_bench(self, model: Path, inputs: Path, openvino: Path) -> Any:
        """out0 of the model on these inputs; bench gives figures."""
        more = ("--openvino", openvino)
        done = self.run_command("run", model, "-i", inputs, "-o", "y.npz", "--json", *more)
        self.expect(done, DONE)
        if "openvino" in model.name:
            row = json.loads(done.out)["execution"][0]
            self.assertEqual((row["device"], row["precision"]), ("CPU", "f32"))
        done = self.run_command("bench", model, "--seconds", "0.2", "--json", *more)
        self.expect(done, DONE)
        self.assertGreater(json.loads(done.out)["throughput_per_s"], 0)
        with np.load(self.folder / "y.npz") as results:
            return results["out0"]

    def test_the_pitch_of_eight_frames_on_2025_4(self) -> None:
        openvino = self.openvino("2025_4")
        self.assertEqual(self.report(openvino)["openvino"]["version"][:8], "2025.4.1")
        wanted = np.load(MODELS / "crepe.npz")["out0"]
        for model in ("crepe_openvino.pte", "crepe_portable.pte"):
            got = self.run_and_bench(MODELS / model, MODELS / "crepe.npz", openvino)
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)

    def test_the_pitch_of_eight_frames_beside_2026_4(self) -> None:
        openvino = self.openvino("2026_4")
        self.assertEqual(self.report(openvino)["openvino"]["version"][:8], "2026.4.1")
        # Undelegated: programs made beside 2026.4 are tests/oracle's.
        done = self.run_command(
            *("run", MODELS / "crepe_portable.pte", "-i", MODELS / "crepe.npz", "-o", "y.npz"),
            *("--openvino", openvino),
        )
        self.expect(done, DONE)
        wanted = np.load(MODELS / "crepe.npz")["out0"]
        got = np.load(self.folder / "y.npz")["out0"]
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
        done = self.run_command("bench", MODELS / "crepe_openvino.pte", "--openvino", openvino)
        self.expect(done, MISSING, "2026.4.1", "before 2026")


class Made(CommandTest):
    """With the programs of write_programs.cpp."""

    def setUp(self) -> None:
        super().setUp()
        subprocess.run([*START[:-1], WRITE_PROGRAMS, native(self.folder)], check=True)

    def fake(self, *arguments: object, script: str = "") -> Done:
        self.need_openvino()
        path = self.folder / "script"
        path.write_text(script)
        return self.run_command(
            *arguments, "--openvino", FAKES / "good", FAKE_OPENVINO_SCRIPT=native(path)
        )

    def lines(self, done: Done) -> list[str]:
        return [" ".join(line.split()) for line in done.out.splitlines()]


class Statuses(Made):
    def test_all_that_is_missing_is_named_at_once(self) -> None:
        done = self.run_command("run", "lacking.pte")
        self.expect(done, MISSING, "test::first.out", "test::second.out", "TestBackend")
        self.assertEqual(len(done.err.splitlines()), 1, done)
        info = json.loads(self.run_command("info", "lacking.pte", "--json").out)
        runs = info["methods"][0]["runs"]
        self.assertFalse(runs["ready"])
        self.assertEqual(runs["missing_operators"], ["test::first.out", "test::second.out"])
        self.assertEqual(runs["missing_delegates"], ["TestBackend"])

    def test_a_failure_while_running_prints_no_result(self) -> None:
        done = self.fake("run", "failing.pte", "-o", "y.npz", "--json")
        self.expect(done, FAILED, "a wire came off")
        self.assertFalse((self.folder / "y.npz").exists())
        for command in ("bench", "profile"):
            self.expect(self.fake(command, "failing.pte"), FAILED, "a wire came off")

    def test_a_failure_on_one_thread_of_a_bench_ends_it(self) -> None:
        done = self.fake(
            "bench",
            "openvino.pte",
            *("--parallel", "2", "--seconds", "0.2"),
            script="fail ov_infer_request_infer -1 9 1 a wire came off\n",
        )
        self.expect(done, FAILED, "a wire came off")

    def test_a_damaged_blob_is_not_run(self) -> None:
        done = self.fake("run", "damaged.pte")
        self.assertIn(done.status, (MALFORMED, MISSING), done)
        self.expect(done, done.status, "OpenvinoBackend")

    def test_a_method_that_is_not_there_is_answered_with_those_there_are(self) -> None:
        done = self.run_command("info", "state.pte", "-m", "x")
        self.expect(done, WRONG_USE, "-m")  # info shows all methods.
        self.expect(self.run_command("run", "state.pte"), WRONG_USE, "first", "second")
        done = self.run_command("run", "state.pte", "-m", "third")
        self.expect(done, WRONG_USE, "third", "first", "second")

    def test_the_method_that_ran_is_the_one_in_the_json(self) -> None:
        for command in ("run", "bench", "profile"):
            done = self.run_command(command, "add.pte", "--json", *self.short(command))
            self.assertEqual(json.loads(done.out)["method"], "forward", done)

    def short(self, command: str) -> list[str]:
        return ["--seconds", "0.1"] if command == "bench" else []

    def test_with_json_a_failure_is_json_too(self) -> None:
        for arguments, status in (
            (("run", "nowhere.pte", "--json"), WRONG_USE),
            (("run", "--nope", "--json"), WRONG_USE),
            (("info", "cut.pte", "--json"), MALFORMED),
            (("run", "lacking.pte", "--json"), MISSING),
            (("devices", "--openvino", "nowhere", "--json"), MISSING),
        ):
            (self.folder / "cut.pte").write_bytes(b"cut")
            done = self.run_command(*arguments)
            self.assertNotEqual(done.out, "", done)
            self.expect(done, status)
            self.expect(self.run_command(*arguments[:-1]), status)
            self.assertEqual(self.run_command(*arguments[:-1]).out, "")
        if ON_WINDOWS:
            return  # Wine's own pipe takes everything.
        full = subprocess.run(
            f'"{COMMAND}" info nowhere.pte --json >/dev/full',
            shell=True,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            check=False,
        )
        self.assertEqual(full.returncode, WRONG_USE)
        self.assertIn(b"nowhere.pte", full.stderr)

    def test_empty_values_of_options_are_no_defaults(self) -> None:
        for option in ("--device", "--openvino", "--cache", "-m", "-o"):
            with self.subTest(option):
                self.expect(self.run_command("run", MLP, option, ""), WRONG_USE, "empty")

    def test_wrong_use_says_where_the_help_is(self) -> None:
        self.expect(self.run_command("run", MLP, "--nope"), WRONG_USE, "pteron run --help")
        self.expect(self.run_command("bench", MLP, "--seconds", "nan"), WRONG_USE, "--seconds")


class Reported(Made):
    """What went wrong for others who run such files."""

    def test_a_thousand_runs_say_no_more_than_one(self) -> None:
        done = self.run_command("run", MLP, "--repeat", "1000")
        self.expect(done, DONE, "out0")
        self.assertLessEqual(len(done.err.splitlines()), 2, done)

    def test_a_device_may_be_written_in_any_case(self) -> None:
        for device in ("cpu", "Cpu", " CPU"):
            self.expect(self.fake("run", "openvino.pte", "--device", device), DONE, "out0")
        done = self.fake("run", "openvino.pte", "--device", "gpu")
        self.expect(done, MISSING, "GPU", "this machine has CPU")

    def test_paths_of_any_script_work_in_any_locale(self) -> None:
        self.need_openvino()
        folder = self.folder / "привет 模型 é"
        folder.mkdir()
        library = folder / C_LIBRARY
        shutil.copy(FAKES / "good" / C_LIBRARY, library)
        model = folder / "модель.pte"
        shutil.copy(self.folder / "openvino.pte", model)
        for locale in ("C", "C.UTF-8", "POSIX"):
            for openvino in (folder, library):
                done = self.run_command(
                    *("profile", model, "-o", folder / "след.json", "--openvino", openvino),
                    *("--cache", folder / "кэш"),
                    LC_ALL=locale,
                    LANG=locale,
                )
                self.expect(done, DONE, "add_one")
                # The fake's operators say that they took longer than the run.
                self.assertLess(max(map(len, done.out.splitlines())), 200)
                self.assertIn("traceEvents", (folder / "след.json").read_text())
                done = self.run_command("run", model, "--json", OPENVINO_LIB_PATH=native(openvino))
                self.expect(done, DONE)
                self.assertEqual(json.loads(done.out)["openvino"]["file"], native(library))

    @only_linux("an environment of Windows' Python has other folders")
    def test_pteron_finds_what_is_installed_beside_it_under_any_name(self) -> None:
        self.need_openvino()
        home = self.folder / "Zoë 用户"
        packages = home / "lib/python3.11/site-packages/openvino/libs"
        packages.mkdir(parents=True)
        (home / "bin").mkdir()
        (home / "pyvenv.cfg").write_text("")
        shutil.copy(FAKES / "good/libopenvino_c.so.2541", packages)
        shutil.copy(COMMAND, home / "bin/pteron")
        for library in (Path(COMMAND).parent / "../src/api").glob("libpteron.so.?"):
            shutil.copy(library, home / "lib")
        for locale in ("C", "C.UTF-8"):
            for command in (["devices", "--json"], ["run", self.folder / "openvino.pte", "--json"]):
                done = subprocess.run(
                    [home / "bin/pteron", *command],
                    capture_output=True,
                    text=True,
                    check=False,
                    env={"PATH": "/nowhere", "LC_ALL": locale},
                )
                self.assertEqual(done.returncode, DONE, done)
                self.assertIn(str(packages), done.stdout)

    @only_linux("Windows has no such groups")
    def test_the_quota_of_a_container_bounds_the_threads(self) -> None:
        self.need_openvino()
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("this process has one core")
        groups = self.folder / "groups"
        (groups / "cpu").mkdir(parents=True)
        # One core, in both versions' files; which one is read, the kernel's groups decide.
        (groups / "cpu.max").write_text("100000 100000")
        (groups / "cpu/cpu.cfs_quota_us").write_text("100000")
        (groups / "cpu/cpu.cfs_period_us").write_text("100000")

        def in_container(*arguments: object) -> Done:
            script = 'mount --bind "$0" /sys/fs/cgroup && exec "$@"'
            done = subprocess.run(
                ["unshare", "-rm", "sh", "-c", script, str(groups), COMMAND, *map(str, arguments)],
                capture_output=True,
                text=True,
                check=False,
            )
            return Done(done.returncode, done.stdout, done.stderr)

        if in_container("--version").status != DONE:
            self.skipTest("no namespace of its own is allowed here (unshare -rm)")
        fake = ("--openvino", FAKES / "good" / C_LIBRARY)
        model = self.folder / "openvino.pte"
        done = in_container("bench", model, "--seconds", "0.05", *fake)
        self.expect(done, DONE, "INFERENCE_NUM_THREADS=1")
        self.expect(in_container("doctor", *fake), DONE, "may use only 1 of", "CPU quota")

    def test_weights_may_be_several_files_with_relative_and_other_names(self) -> None:
        case = PORTABLE / "models__ModuleLinear_ptd"
        other = PORTABLE / "models__ModuleAddMul_ptd"
        folder = self.folder / "веса é"
        folder.mkdir()
        shutil.copy(case / "_default_external_constant.ptd", folder / "a b.ptd")
        shutil.copy(other / "_default_external_constant.ptd", folder / "другой.ptd")
        weights = ("--weights", "веса é/другой.ptd", "--weights", "./веса é/a b.ptd")
        done = self.run_command("run", case / "model.pte", *weights)
        self.expect(done, DONE, "out0")
        info = json.loads(self.run_command("info", case / "model.pte", *weights, "--json").out)
        files = [Path(entry["file"]).name for entry in info["weights_files"]]
        self.assertEqual(files, ["другой.ptd", "a b.ptd"])
        self.assertTrue(info["methods"][0]["runs"]["ready"])

    def test_files_of_other_kinds_are_told_apart_within_a_second(self) -> None:
        library = Path(COMMAND).read_bytes()[:4096]
        case = PORTABLE / "models__ModuleLinear_ptd"
        weights = (case / "_default_external_constant.ptd").read_bytes()
        kinds = {
            "picture": (b"\x89PNG\r\n\x1a\n" + bytes(99), "PNG"),
            "library": (library, "Windows" if ON_WINDOWS else "ELF"),
            "weights": (weights, "weights"),
            "one_byte": (b"\x00", "only 1 byte"),
            "noise": (bytes(range(256)) * 9, "not an ExecuTorch program"),
        }
        for name, (data, part) in kinds.items():
            with self.subTest(name):
                (self.folder / f"{name}.pte").write_bytes(data)
                start = time.monotonic()
                done = self.run_command("info", f"{name}.pte")
                self.assertLess(time.monotonic() - start, 5)  # A loaded machine is slower.
                self.expect(done, MALFORMED, part)
                self.assertTrue(done.err.isprintable() or done.err[:-1].isprintable(), done)

    def test_options_of_openvino_say_so_where_nothing_takes_them(self) -> None:
        for option, value in (
            ("--device", "GPU"),
            ("--precision", "f16"),
            ("--config", "A=1"),
            ("--cache", "cache"),
            ("--hint", "throughput"),
        ):
            for command in ("run", "info", "bench", "profile"):
                extra = ["--seconds", "0.1"] if command == "bench" else []
                done = self.run_command(command, "add.pte", option, value, *extra, "--json")
                self.expect(done, DONE)
                self.assertIn(f"{option} {value}: without effect", done.err)
                self.assertEqual(done.err.count("\n"), 2 if command != "info" else 1, done)
                notes = json.loads(done.out)["notes"]
                self.assertEqual(len(notes), 1)
                self.assertIn(f"{option} {value}", notes[0])
        for device in ("CPU", " cpu", "none"):
            done = self.run_command("run", "add.pte", "--device", device, "--json")
            self.assertNotIn("without effect", done.err)
            self.assertEqual(json.loads(done.out)["notes"], [])
        quiet = self.run_command("run", "add.pte", "--device", "GPU", "-q")
        self.assertEqual(quiet.err, "")

    def test_options_of_openvino_need_no_note_where_a_part_takes_them(self) -> None:
        done = self.fake("run", "openvino.pte", "--hint", "throughput", "--json")
        self.assertNotIn("without effect", done.err)
        self.assertEqual(json.loads(done.out)["notes"], [])

    def test_info_has_looked_for_openvino_before_it_says_what_runs_there(self) -> None:
        found = json.loads(self.fake("info", "openvino.pte", "--json").out)
        self.assertTrue(found["openvino"]["ok"])
        self.assertTrue(found["methods"][0]["runs"]["ready"])
        (self.folder / "empty").mkdir()
        for options in (["--openvino", "empty"], ["--device", "none"]):
            done = self.run_command("info", "openvino.pte", *options)
            self.expect(done, DONE, "MISSING")
            info = json.loads(self.run_command("info", "openvino.pte", *options, "--json").out)
            method = info["methods"][0]
            self.assertFalse(method["delegates"][0]["available"])
            self.assertFalse(method["runs"]["ready"])
            self.assertEqual(method["runs"]["missing_delegates"], ["OpenvinoBackend"])
            self.assertEqual(method["runs"]["parts"][0]["ran_by"], "")

    def test_info_of_a_device_that_is_not_there_is_not_ready(self) -> None:
        for device in ("CPU", "cpu"):
            done = self.fake("info", "openvino.pte", "--device", device, "--json")
            self.assertTrue(json.loads(done.out)["methods"][0]["runs"]["ready"])
        found = json.loads(self.fake("info", "openvino.pte", "--device", "GPU", "--json").out)
        self.assertFalse(found["methods"][0]["runs"]["ready"])
        self.assertIn("no device GPU", found["openvino"]["problems"][-1])
        self.expect(self.fake("info", "openvino.pte", "--device", "GPU"), DONE, "MISSING")

    def test_a_cache_that_nothing_is_kept_in_is_said(self) -> None:
        model = MODELS / "lstm_openvino.pte"
        openvino = self.openvino("2025_4")
        done = self.run_command("run", model, "--openvino", openvino, "--cache", "c", "--json")
        self.assertIn("--cache c: without effect", json.loads(done.out)["notes"][0])

    def test_times_of_operators_are_within_that_of_their_delegate(self) -> None:
        model = MODELS / "lstm_openvino.pte"
        done = self.run_command("profile", model, "--openvino", self.openvino("2025_4"), "-q")
        shares = [float(share) for share in re.findall(r"([0-9.]+) %", done.out)]
        self.assertGreater(len(shares), 3)
        self.assertLess(sum(shares), 101)

    def test_an_option_that_is_not_in_force_can_be_seen(self) -> None:
        done = self.fake("run", "openvino.pte", "--threads", "3", "--json")
        part = json.loads(done.out)["execution"][0]
        self.assertEqual(part["requested"]["INFERENCE_NUM_THREADS"], "3")
        self.assertIn("properties", part)

    def test_operators_are_compiled_and_told_one_by_one(self) -> None:
        pnet = MODELS / "pnet_portable.pte"
        real = ("--openvino", self.openvino("2025_4"))
        done = self.run_command("info", pnet, *real, "--accelerate", "on")
        self.expect(done, DONE, "OpenVINO")
        self.assertIn("aten::convolution.out 5 compiled for OpenVINO", self.lines(done))
        done = self.run_command("info", pnet, *real, "--accelerate", "off")
        self.assertIn("aten::convolution.out 5 kernel", self.lines(done))
        done = self.run_command(
            "run", pnet, *real, "--accelerate", "on", "--cache", self.folder / "cache", "--json"
        )
        told = json.loads(done.out)
        self.assertEqual(len(told["accelerated"]["regions"]), 1)
        self.assertEqual(told["accelerated"]["kept"], [])
        self.assertEqual(told["requested"]["accelerate"], "on")
        self.assertIn("the program's own operators", told["notes"][0])
        done = self.run_command("profile", pnet, *real, "--accelerate", "on", "--json")
        rows = json.loads(done.out)["instructions"]
        self.assertEqual([row["name"] for row in rows], ["instructions 0 to 15, compiled"])
        self.assertTrue(
            any("aten::convolution.out" in row["name"] for row in rows[0]["operators"]), rows
        )
        self.expect(self.run_command("run", pnet, "--accelerate", "yes"), WRONG_USE, "accelerate")

    def test_files_larger_than_4_gb_are_mapped_and_told(self) -> None:
        path = self.folder / "large.pte"
        shutil.copy(MLP, path)
        os.truncate(path, 5 << 30)  # Sparse.
        done = self.run_command("info", path, "--json")
        self.expect(done, DONE)
        self.assertEqual(json.loads(done.out)["file_bytes"], 5 << 30)
        self.expect(self.run_command("run", path), DONE, "out0")


class Golden(Made):
    def test_info_of_a_portable_program(self) -> None:
        # A build without OpenVINO compiles nothing anyway.
        why = "not compiled for OpenVINO: too little work to repay compiling it"
        why_not = [why] if HAS_OPENVINO else []
        self.assertEqual(
            self.lines(self.run_command("info", "add.pte"))[1:],
            [
                "method forward",
                "in input0 float32 [2, 3]",
                "in input1 float32 [2, 3]",
                "out output0 float32 [2, 3]",
                "part calls size runs on",
                "aten::add.out 1 kernel",
                *why_not,
                "planned memory 192 B, constants 0 B",
            ],
        )

    def test_info_of_a_program_that_lacks_much(self) -> None:
        lines = self.lines(self.run_command("info", "lacking.pte"))
        self.assertIn("test::first.out 1 MISSING", lines)
        self.assertIn("TestBackend 1 7 B MISSING", lines)

    def test_info_of_bounds_and_of_a_delegate(self) -> None:
        lines = self.lines(self.run_command("info", "dynamic.pte"))
        self.assertIn("in input0 float32 [<=4, <=3]", lines)
        lines = self.lines(self.fake("info", "openvino.pte"))
        self.assertRegex(lines[5], r"^OpenvinoBackend 1 \d+ B OpenVINO 2025\.4\.1 device=CPU$")

    def test_run_and_its_numbers(self) -> None:
        x = self.save("x.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
        self.assertEqual(
            self.lines(self.run_command("run", "add.pte", "-i", x, "-i", x)),
            [
                "output dtype shape min max mean first values",
                "out0 float32 [2, 3] 0 10 5 0 2 4 6 8 10",
            ],
        )

    def test_numbers_that_are_not_finite_are_counted(self) -> None:
        x = np.array([[np.nan, np.inf, 1], [2, 3, -np.inf]], np.float32)
        done = self.run_command("run", "add.pte", "-i", self.save("x.npy", x), "-i", "x.npy")
        self.assertIn("2 6 4 nan inf 2 4 6 -inf (3 not finite)", self.lines(done)[1])
        done = self.run_command("run", "add.pte", "-i", "x.npy", "-i", "x.npy", "--json")
        self.assertNotIn("NaN", done.out)  # Which is no JSON.
        self.assertEqual(json.loads(done.out)["outputs"][0]["not_finite"], 3)

    def test_doctor_that_finds_one(self) -> None:
        done = self.fake("doctor")
        lines = self.lines(done)
        self.assertRegex(lines[0], r"^pteron \d+\.\d+\.\d+$")
        self.assertEqual(lines[1], "looked for OpenVINO in and found")
        self.assertIn("OpenVINO 2025.4.1-0-fake", lines)
        self.assertEqual(lines[-1], "A program can run on OpenVINO here.")
        self.expect(done, DONE)

    def test_doctor_that_finds_none(self) -> None:
        self.need_openvino()
        (self.folder / "empty").mkdir()
        done = self.run_command("doctor", "--openvino", "empty")
        self.assertEqual(done.status, MISSING, done)
        self.assertEqual(done.err, "", done)
        self.assertEqual(done.out.splitlines()[-1], "No program can run on OpenVINO here.")
        self.assertIn("pip install", done.out)
        result = json.loads(self.run_command("doctor", "--openvino", "empty", "--json").out)
        self.assertEqual((result["ok"], result["devices"]), (False, []))
        for key in ("format", "searched", "others", "problems", "pteron"):
            self.assertIn(key, result)

    def test_devices_with_a_gpu_an_npu_and_one_that_is_broken(self) -> None:
        script = (
            "device GPU FP32,FP16 Intel(R) Graphics\n"
            "device NPU FP16 Intel(R) AI Boost\nfail ov_core_get_property -1 0 1 no driver\n"
        )
        text = self.fake("devices", script=script)
        self.expect(text, DONE, "Intel(R) AI Boost", "Intel(R) Graphics", "no driver")
        result = json.loads(self.fake("devices", "--json", script=script).out)
        self.assertEqual(result["openvino"]["version"], "2025.4.1-0-fake")
        devices = {device["name"]: device for device in result["devices"]}
        self.assertEqual(sorted(devices), ["CPU", "GPU", "NPU"])
        self.assertEqual(devices["GPU"]["capabilities"], ["FP32", "FP16"])
        self.assertIn("no driver", devices["CPU"]["error"])

    def test_run_tells_device_and_precision_in_force(self) -> None:
        script = "device GPU FP32,FP16,EXPORT_IMPORT Intel(R) Graphics\n"
        done = self.fake("run", "openvino.pte", "--device", "GPU", "--json", script=script)
        self.expect(done, DONE)
        result = json.loads(done.out)
        self.assertEqual(result["requested"]["device"], "GPU")
        self.assertEqual(result["execution"][0]["device"], "GPU")
        self.assertEqual(result["openvino"]["version"], "2025.4.1")
        self.assertIn("good", result["openvino"]["file"])


class Output(Made):
    def test_a_file_is_replaced_as_a_whole(self) -> None:
        path = self.folder / "y.npz"
        path.write_bytes(b"before")
        path.chmod(0o640)
        self.expect(self.run_command("run", "lacking.pte", "-o", path), MISSING)
        self.assertEqual(path.read_bytes(), b"before")
        before = sorted(os.listdir(self.folder))
        with path.open("rb") as reader:  # Who has it open keeps what was there.
            self.expect(self.run_command("run", "add.pte", "-o", path), DONE)
            self.assertEqual(reader.read(), b"before")
        self.assertEqual(list(np.load(path)), ["out0"])
        if not ON_WINDOWS:
            self.assertEqual(path.stat().st_mode & 0o777, 0o640)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_an_output_that_is_a_file_that_was_read_is_refused(self) -> None:
        x = self.save("x.npy", np.ones((2, 3), np.float32))
        case = PORTABLE / "models__ModuleLinear_ptd"
        shutil.copy(case / "model.pte", self.folder / "linear.pte")
        shutil.copy(case / "_default_external_constant.ptd", self.folder / "linear.ptd")
        linear = ("linear.pte", "--weights", "linear.ptd")
        for model, read in (
            (("add.pte",), "add.pte"),
            (linear, "linear.ptd"),
            (linear, "linear.pte"),
        ):
            before = (self.folder / read).read_bytes()
            os.link(self.folder / read, self.folder / "hard")
            (self.folder / "soft").symlink_to(read)
            for command in ("run", "profile"):
                for name in (read, "./" + read, self.folder / read, "hard", "soft"):
                    done = self.run_command(command, *model, "-o", name)
                    self.expect(done, WRONG_USE, native(name), "overwritten")
                    self.assertEqual((self.folder / read).read_bytes(), before)
            (self.folder / "hard").unlink()
            (self.folder / "soft").unlink()
        before = x.read_bytes()
        done = self.run_command("run", "add.pte", "-i", x, "-i", x, "-o", "./x.npy")
        self.expect(done, WRONG_USE, "the input", "x.npy")
        self.assertEqual(x.read_bytes(), before)

    @only_linux("Windows has no such limit")
    def test_a_file_past_its_limit_is_an_error_and_leaves_nothing(self) -> None:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

        before = sorted(os.listdir(self.folder))
        for arguments in ("run", "add.pte", "-o", "y.npz"), ("profile", "add.pte", "-o", "t.json"):
            done = subprocess.run(
                [*START, *arguments],
                capture_output=True,
                cwd=self.folder,
                preexec_fn=limit,
                check=False,
            )
            self.assertEqual(done.returncode, WRONG_USE, done)
            self.assertIn(b"File too large", done.stderr)
            self.assertEqual(sorted(os.listdir(self.folder)), before)

    @only_linux("Wine does not show the links of Linux")
    def test_a_link_stays_one_and_its_end_is_written(self) -> None:
        (self.folder / "link.npz").symlink_to("end.npz")
        for _ in range(2):
            self.expect(self.run_command("run", "add.pte", "-o", "link.npz"), DONE)
            self.assertTrue((self.folder / "link.npz").is_symlink())
            self.assertEqual(list(np.load(self.folder / "end.npz")), ["out0"])

    @only_linux("Windows has no such files in folders")
    def test_a_device_is_written_to_and_a_folder_is_refused(self) -> None:
        null = os.stat("/dev/null")
        self.expect(self.run_command("run", "add.pte", "-o", "/dev/null"), DONE)
        self.assertEqual(os.stat("/dev/null").st_ino, null.st_ino)
        self.expect(self.run_command("run", "add.pte", "-o", "/dev/full"), WRONG_USE, "No space")
        self.expect(self.run_command("run", "add.pte", "-o", self.folder), WRONG_USE, "folder")
        done = self.run_command("profile", "add.pte", "-o", "no/trace.json")
        self.expect(done, WRONG_USE, "no/trace.json", "No such file")

    def test_scalars_are_saved_too_and_what_cannot_be_is_said(self) -> None:
        done = self.run_command("run", "results.pte", "-o", "y.npz")
        self.expect(done, DONE, "text")
        self.assertIn("out4 is not saved", done.err)
        with np.load(self.folder / "y.npz") as results:
            self.assertEqual(list(results), ["out0", "out1", "out2", "out3"])
            for name, value, dtype in (
                ("out1", 7, np.int64),
                ("out2", 0.5, np.float64),
                ("out3", True, np.bool_),
            ):
                self.assertEqual(results[name].shape, ())
                self.assertEqual((results[name][()], results[name].dtype), (value, dtype))
        outputs = json.loads(self.run_command("run", "results.pte", "--json").out)["outputs"]
        self.assertEqual([o.get("value") for o in outputs], [None, 7, 0.5, True, "text"])

    def test_a_seed_fixes_random_results(self) -> None:
        def outputs(*options: str) -> object:
            return json.loads(self.run_command("run", "random.pte", "--json", *options).out)[
                "outputs"
            ]

        self.assertEqual(outputs("--seed", "7"), outputs("--seed", "7"))
        self.assertNotEqual(outputs("--seed", "7"), outputs("--seed", "8"))
        self.assertEqual(outputs(), outputs("--seed", "0"))
        self.expect(self.run_command("run", "random.pte", "--seed", "-1"), WRONG_USE, "--seed")

    def test_an_input_that_cannot_be_given_is_listed(self) -> None:
        inputs = ["3", "2.5", "true", "none"]
        x = self.save("x.npy", np.ones(3, np.float32))
        arguments = [part for value in [x, *inputs] for part in ("-i", value)]
        done = self.run_command("run", "scalars.pte", *arguments)
        self.expect(done, WRONG_USE, "takes 6 inputs", "got 5", "string")

    def test_complex_numbers_are_read_and_saved_as_they_are(self) -> None:
        x = np.array([3 + 4j, -1j], np.complex64)
        done = self.run_command("run", "complex.pte", "-i", self.save("x.npy", x), "-o", "y.npz")
        self.expect(done, DONE, "complex64", "5 1")
        y = np.load(self.folder / "y.npz")["out0"]
        self.assertEqual(y.dtype, np.complex64)
        np.testing.assert_array_equal(y, x)

    def test_bfloat16_is_saved_as_its_bits_and_taken_back(self) -> None:
        model = PORTABLE / "extra__bf16_add/model.pte"
        done = self.run_command("run", model, "-o", "y.npz", "--json")
        output = json.loads(done.out)["outputs"][0]
        self.assertEqual((output["dtype"], output["saved_as"]), ("bfloat16", "uint16"))
        bits = np.load(self.folder / "y.npz")["out0"]
        self.assertEqual(bits.dtype, np.uint16)
        count = len(
            json.loads(self.run_command("info", model, "--json").out)["methods"][0]["inputs"]
        )
        again = self.save("bits.npy", np.full(bits.shape, 0x3F80, np.uint16))
        done = self.run_command("run", model, *["-i", again] * count)
        self.assertEqual(done.status, DONE, done)
        self.assertIn("bits of bfloat16", done.err)

    @only_linux("Wine's own pipe takes everything")
    def test_a_full_or_closed_stdout_is_an_error_and_gets_into_no_file(self) -> None:
        for redirection in (">/dev/full", ">&-"):
            for arguments in ("run add.pte -o y.npz", "info add.pte --json", "--help"):
                with self.subTest(redirection + " " + arguments):
                    done = subprocess.run(
                        f'"{COMMAND}" {arguments} {redirection}',
                        shell=True,
                        stderr=subprocess.PIPE,
                        cwd=self.folder,
                        check=False,
                    )
                    self.assertEqual(done.returncode, WRONG_USE)
                    self.assertIn(b"standard output", done.stderr)
            with zipfile.ZipFile(self.folder / "y.npz") as archive:
                self.assertIsNone(archive.testzip())

    @only_linux("Windows has no such names of files")
    def test_nothing_moves_a_terminals_cursor(self) -> None:
        done = self.run_command("run", "no\x1b[31m\u009b\x07such\nfile.pte")
        self.assertEqual(done.status, WRONG_USE)
        self.assertEqual(len(done.err.splitlines()), 1, done)
        for control in "\x1b\u009b\x07":
            self.assertNotIn(control, done.err)
        self.assertIn("no\\x1b[31m\\x9b\\x07such\\nfile.pte", done.err)
        name = "a\x1b[2J\u009b\x7f\nb"
        model = self.folder / f"{name}.pte"
        shutil.copy(self.folder / "add.pte", model)
        with zipfile.ZipFile(self.folder / f"{name}.npz", "w") as archive:
            archive.writestr(f"in0{name}.npy", b"no array at all")
            archive.writestr("x.npy", b"")
        for arguments in (
            ("info", model),
            ("info", model, "--json"),
            ("run", model, "-i", f"{name}.npz"),
            ("run", model, "-m", name),
            ("run", model, "--device", name, "--json"),
            ("profile", model, "-o", f"{name}.json"),
            ("doctor", "--openvino", name),
            ("doctor", "--openvino", name, "--json"),
            (name,),
            ("run", "--" + name),
        ):
            done = self.run_command(*arguments)
            for text in (done.out, done.err):
                for control in "\x1b\u009b\x7f":
                    self.assertNotIn(control, text, arguments)
                self.assertNotIn("\nb", text, arguments)

    @only_linux("Windows' names are not bytes")
    def test_bytes_that_are_not_utf8_do_not_break_the_json(self) -> None:
        model = os.fsencode(self.folder) + b"/\xff.pte"
        Path(os.fsdecode(model)).write_bytes((self.folder / "add.pte").read_bytes())
        for command in (b"info", b"run"):
            arguments: list[bytes] = [os.fsencode(COMMAND), command, model, b"--json"]
            if command == b"run":
                arguments += [b"--config", b"A\xff=\xff"]
            done = subprocess.run(
                arguments,
                capture_output=True,
                check=False,
            )
            self.assertEqual(done.returncode, DONE, done)
            json.loads(done.stdout.decode("utf-8"))

    def terminal(self, *arguments: object, columns: int) -> tuple[str, str]:
        """What a terminal of so many columns shows, and what stderr as a terminal does."""
        texts = []
        sides = []
        for _ in range(2):
            main, side = pty.openpty()
            fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
            sides.append((main, side))
        done = subprocess.run(
            [*START, *map(str, arguments)],
            stdout=sides[0][1],
            stderr=sides[1][1],
            cwd=self.folder,
            check=False,
        )
        self.assertEqual(done.returncode, DONE)
        for main, side in sides:
            os.close(side)
            text = b""
            with contextlib.suppress(OSError):  # Linux tells the end of a terminal so.
                while part := os.read(main, 65536):
                    text += part
            os.close(main)
            texts.append(text.decode("utf-8").replace("\r\n", "\n"))
        return texts[0], texts[1]

    @only_linux("Wine's console is none of Linux's terminals")
    def test_a_table_fits_the_terminal_and_progress_is_for_terminals(self) -> None:
        out, _ = self.terminal("run", MLP, columns=40)
        self.assertTrue(all(len(line) <= 40 for line in out.splitlines()), out)
        self.assertIn("...", out)
        arguments = ("bench", "add.pte", "--seconds", "1.1")
        _, err = self.terminal(*arguments, columns=80)
        self.assertIn("measuring", err)
        self.assertNotIn("measuring", self.run_command(*arguments).err)
        _, err = self.terminal(*arguments, "--quiet", columns=80)
        self.assertEqual(err, "")


class Arrays(Made):
    def test_empty_arrays_of_any_shape_are_read(self) -> None:
        for shape in ((0, 3), (5, 0)):
            x = self.save("x.npy", np.zeros(shape, np.float32))
            done = self.run_command("run", "dynamic.pte", "-i", x, "-i", x)
            self.assertNotIn("more bytes", done.err)
            if shape == (0, 3):
                self.expect(done, DONE, "[0, 3]")
            else:
                self.expect(done, WRONG_USE, "[5, 0]")

    def test_layouts_of_numpy_mean_the_same_numbers(self) -> None:
        base = np.arange(24, dtype=np.float32).reshape(4, 6)
        for array in (base[::2, ::2], base[:2, :3].copy("F"), np.broadcast_to(base[0, :3], (2, 3))):
            x = self.save("x.npy", array)
            self.expect(self.run_command("run", "add.pte", "-i", x, "-i", x, "-o", "y.npz"), DONE)
            np.testing.assert_array_equal(np.load(self.folder / "y.npz")["out0"], 2 * array)

    def test_versions_of_the_format_are_checked(self) -> None:
        x = np.ones((2, 3), np.float32)
        for version in ((1, 0), (2, 0), (3, 0)):
            path = self.folder / "x.npy"
            with path.open("wb") as file:
                np.lib.format.write_array(file, x, version=version)
            self.expect(self.run_command("run", "add.pte", "-i", path, "-i", path), DONE)
        data = bytearray(path.read_bytes())
        for number in (0, 4, 255):
            data[6] = number
            path.write_bytes(data)
            done = self.run_command("run", "add.pte", "-i", path, "-i", path)
            self.expect(done, WRONG_USE, f"version {number}")

    def test_files_that_cannot_be_read_are_named_with_the_reason(self) -> None:
        wrong = [("nowhere.npy", NO_SUCH_FILE), ("nowhere.npz", NO_SUCH_FILE)]
        wrong += [(native(self.folder), "folder")]
        if not ON_WINDOWS:
            os.mkfifo(self.folder / "pipe.npy")
            wrong += [("n" * 300 + ".npy", "too long"), ("pipe.npy", "regular file")]
            wrong += [("/dev/zero", "regular file")]
        for name, reason in wrong:
            with self.subTest(name):
                self.expect(self.run_command("run", MLP, "-i", name), WRONG_USE, name, reason)
        if ON_WINDOWS:
            return  # Wine runs as who made the file.
        closed = self.save("closed.npy", np.ones(3))
        closed.chmod(0)
        if os.access(closed, os.R_OK):
            return  # The superuser reads all.
        self.expect(self.run_command("run", MLP, "-i", closed), WRONG_USE, "Permission denied")

    def test_a_wrong_input_is_named_with_what_was_wanted(self) -> None:
        x = self.save("x.npy", np.ones((2, 3), np.float32))
        wrong = self.save("wrong.npy", np.ones((2, 3), np.int64))
        done = self.run_command("run", "add.pte", "-i", x, "-i", wrong)
        self.expect(done, WRONG_USE, "input 1", "int64", "float32 [2, 3]")
        done = self.run_command("run", "add.pte", "-i", x)
        self.expect(done, WRONG_USE, "takes 2 inputs, got 1", "input0", "input1")
        large = self.save("large.npy", np.ones((5, 3), np.float32))
        done = self.run_command("run", "dynamic.pte", "-i", large, "-i", large)
        self.expect(done, WRONG_USE, "input 0", "[5, 3]", "<=4")

    def test_scalars_that_the_program_was_not_traced_with_are_refused(self) -> None:
        model = PORTABLE / "models__ModuleIntBool/model.pte"
        done = self.run_command("run", model)
        self.expect(done, DONE, "out0")
        self.assertIn("input1 int, input2 bool", done.err)

    def test_numbers_are_read_from_an_archive_as_they_are_saved(self) -> None:
        case = PORTABLE / "models__ModuleIntBool"
        io = np.load(case / "io_0.npz")
        numbers = {"in0": io["in_0"], "in1": np.int64(1), "in2": np.bool_(True)}
        np.savez(self.folder / "x.npz", **numbers)
        done = self.run_command("run", case / "model.pte", "-i", "x.npz", "-o", "y.npz")
        self.expect(done, DONE)
        np.testing.assert_allclose(np.load(self.folder / "y.npz")["out0"], io["eager_0"])
        np.savez(self.folder / "x.npz", **{**numbers, "in1": np.int64(7)})
        done = self.run_command("run", case / "model.pte", "-i", "x.npz")
        self.expect(done, WRONG_USE, "input 1")

    def test_an_archive_may_name_arrays_as_the_program_names_its_inputs(self) -> None:
        case = PORTABLE / "sub__subtract_f32_alpha"
        io = np.load(case / "io_0.npz")
        x, y = io["in_0"], io["in_1"]
        for names in (("input1", "input0"), ("in_1", "in_0"), ("in1", "in0")):
            np.savez(self.folder / "x.npz", **dict(zip(names, (y, x), strict=True)))
            done = self.run_command("run", case / "model.pte", "-i", "x.npz", "-o", "y.npz")
            self.expect(done, DONE)
            self.assertNotIn("order", done.err)
            np.testing.assert_allclose(np.load(self.folder / "y.npz")["out0"], io["eager_0"])
        np.savez(self.folder / "x.npz", b=x, a=y)
        done = self.run_command("run", case / "model.pte", "-i", "x.npz")
        self.assertIn("its arrays are taken in their order", done.err)

    def test_a_gap_in_the_numbers_of_an_archive_is_an_error(self) -> None:
        x = np.zeros((2, 3), np.float32)
        for names in (("in0", "in2"), ("in1", "in2"), ("in1",), ("in_0", "in_1", "in_3")):
            arrays: dict[str, Any] = dict.fromkeys(names, x)
            np.savez(self.folder / "x.npz", **arrays)
            done = self.run_command("run", "add.pte", "-i", "x.npz")
            self.expect(done, WRONG_USE, "x.npz: it has an array in", "but none in")
        np.savez(self.folder / "x.npz", in0=x, in1=x, in2=x)
        done = self.run_command("run", "add.pte", "-i", "x.npz")
        self.expect(done, WRONG_USE, "takes 2 inputs, got 3")

    def test_an_archive_without_arrays_is_one_that_numpy_reads(self) -> None:
        case = PORTABLE / "models__ModuleSimpleTrain"
        name = "__et_training_fqn_forward"
        self.expect(self.run_command("run", case / "model.pte", "-m", name, "-o", "y.npz"), DONE)
        self.assertEqual(np.load(self.folder / "y.npz").files, [])

    def test_a_bfloat16_input_of_another_dtype_is_told_how_numpy_makes_one(self) -> None:
        model = PORTABLE / "extra__bf16_add/model.pte"
        for dtype in ("float32", "int16"):
            x = self.save("x.npy", np.ones((4, 5), dtype))
            done = self.run_command("run", model, "-i", x, "-i", x)
            self.expect(done, WRONG_USE, "takes bfloat16 [4, 5]", '.astype("uint16")')
        one = (np.ones((4, 5), "float32").view("uint32") >> 16).astype("uint16")
        x = self.save("x.npy", one)
        done = self.run_command("run", model, "-i", x, "-i", x)
        self.expect(done, DONE, "bfloat16  [4, 5]    3    3")

    def test_a_note_on_made_up_inputs_has_their_shapes(self) -> None:
        done = self.run_command("run", "dynamic.pte", "--shape", "0=2x3")
        self.assertIn("made up (input0 float32 [2, 3], input1 float32 [4, 3])", done.err)

    def test_seeds_are_whole_numbers(self) -> None:
        for seed in ("-1", "x", "1.5", str(2**64)):
            done = self.run_command("run", "add.pte", "--seed", seed)
            self.expect(done, WRONG_USE, "no whole number")
        self.expect(self.run_command("run", "add.pte", "--seed", str(2**64 - 1)), DONE)

    def test_what_is_not_understood_is_said_as_it_was_written(self) -> None:
        done = self.run_command("run", "add.pte", "--time", "1")
        self.expect(done, WRONG_USE, "not understood: --time 1; see pteron run --help")

    def test_threads_are_said_once(self) -> None:
        config = "INFERENCE_NUM_THREADS=1"
        done = self.run_command("run", "add.pte", "--threads", "2", "--config", config)
        self.expect(done, WRONG_USE, "give one of them")

    def test_made_up_shapes_must_be_of_tensors_and_not_too_many(self) -> None:
        self.expect(self.run_command("run", "add.pte", "--shape", "2=1"), WRONG_USE, "input0")
        done = self.run_command("run", "add.pte", "--shape", "0=" + "x".join("1" * 17))
        self.expect(done, WRONG_USE, "16 dimensions")
        done = self.run_command("run", "dynamic.pte", "--shape", f"0={2**40}x{2**40}")
        self.expect(done, WRONG_USE, "--shape")


if __name__ == "__main__":
    unittest.main(verbosity=2)  # With the reasons of skips.
