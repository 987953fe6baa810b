#!/usr/bin/env python3
"""Runs the `pteron` command as a user would.

usage: command_test.py [Class.test]...     with these variables, which ctest sets:
PTERON_COMMAND, PTERON_GOLDEN (unpacked programs), PTERON_MODELS, PTERON_FAKES (fake OpenVINOs),
PTERON_OPENVINO_2025_4, PTERON_OPENVINO_2025_0 (libraries of real ones; may be unset)
"""

import io
import json
import os
import pty
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest
import zipfile
from pathlib import Path

import numpy as np

COMMAND = os.environ["PTERON_COMMAND"]
PORTABLE = Path(os.environ["PTERON_GOLDEN"]) / "portable"
MODELS = Path(os.environ["PTERON_MODELS"])
FAKES = Path(os.environ["PTERON_FAKES"])
MLP = PORTABLE / "extra__mlp/model.pte"
LSTM = MODELS / "lstm_openvino.pte"
# Statuses of docs/command.md.
DONE, WRONG_USE, MALFORMED, MISSING, FAILED = 0, 2, 3, 4, 5


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
            [COMMAND, *map(str, arguments)],
            capture_output=True,
            cwd=cwd or self.folder,
            env={**environment, **variables},
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    def expect(self, done: Done, status: int, *parts: str) -> None:
        """The status, an error line that has these parts, and nothing that looks like a result."""
        self.assertEqual(done.status, status, done)
        if status != DONE:
            self.assertEqual(done.out, "", done)
            lines = done.err.strip().splitlines()
            self.assertTrue(lines[-1].startswith("pteron: "), done)
        for part in parts:
            self.assertIn(part, done.err if status != DONE else done.out, done)

    def save(self, name: str, array: np.ndarray) -> Path:
        path = self.folder / name
        np.save(path, array)
        return path

    def openvino(self, version: str) -> str:
        path = os.environ.get(f"PTERON_OPENVINO_{version}")
        if not path:
            self.skipTest(f"OpenVINO {version} is not installed for tests")
        return path


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
        self.expect(
            self.run_command("run", "nowhere.pte"), WRONG_USE, "nowhere.pte", "No such file"
        )
        self.expect(self.run_command("info", self.folder), WRONG_USE, str(self.folder))

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

    def test_a_planted_library_in_the_current_folder_is_not_loaded(self) -> None:
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
            "no_shape.npy": header("{'descr': '<f4', 'fortran_order': False, }\n"),
            "text.npz": b"not an archive",
            "cut.npz": self.archive({"in0": data})[:-30],
        }
        for name, content in hostile.items():
            with self.subTest(name):
                path = self.folder / name
                path.write_bytes(content)
                self.expect(self.run_command("run", MLP, "-i", path), WRONG_USE, name)
        path = self.folder / "bomb.npz"
        path.write_bytes(self.archive({"in0": header(huge % "300000000,") + bytes(300_000_000)}))
        start = time.monotonic()
        self.expect(self.run_command("run", MLP, "-i", path), WRONG_USE)
        self.assertLess(time.monotonic() - start, 30)

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

    def test_a_closed_pipe_is_no_error(self) -> None:
        for arguments in (["info", MLP], ["run", MLP, "--json"], ["profile", MLP]):
            with self.subTest(arguments[0]):
                process = subprocess.Popen(
                    [COMMAND, *map(str, arguments)],
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

    def test_an_interrupt_ends_it_at_once(self) -> None:
        process = subprocess.Popen(
            [COMMAND, "bench", str(MLP), "--seconds", "60"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
        )
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        self.assertEqual(process.returncode, -signal.SIGINT)

    def test_a_terminal_gets_the_same_table(self) -> None:
        main, side = pty.openpty()
        process = subprocess.Popen(
            [COMMAND, "run", str(MLP)], stdout=side, stderr=subprocess.PIPE, cwd=self.folder
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
        missing = self.folder / "nothing"
        missing.mkdir()
        for arguments in (["run", LSTM], ["doctor"], ["devices"]):
            done = self.run_command(*arguments, "--openvino", missing)
            self.assertEqual(done.status, MISSING, done)
            self.assertIn(str(missing), done.out + done.err)

    def test_one_that_is_too_old_is_refused_with_both_versions(self) -> None:
        done = self.run_command("run", LSTM, "--openvino", self.openvino("2025_0"))
        self.expect(done, MISSING, "2025.0", "2025.1")
        self.expect(self.run_command("run", LSTM, "--openvino", FAKES / "old"), MISSING, "2025.1")

    def test_one_that_lacks_a_function_names_it(self) -> None:
        done = self.run_command("run", LSTM, "--openvino", FAKES / "without_infer")
        self.expect(done, MISSING, "ov_infer_request_infer")

    def test_a_broken_library_says_what_the_system_says(self) -> None:
        broken = self.folder / "libopenvino_c.so"
        broken.write_bytes(b"not a library")
        self.expect(self.run_command("run", LSTM, "--openvino", broken), MISSING, str(broken))

    def test_a_device_that_is_not_there_is_named_with_those_that_are(self) -> None:
        done = self.run_command(
            "run", LSTM, "--device", "NPU", "--openvino", self.openvino("2025_4")
        )
        self.expect(done, MISSING, "NPU", "CPU")

    def test_devices_that_import_no_blob_are_refused_with_the_remedy(self) -> None:
        for device in ("AUTO", "AUTO:GPU,CPU", "HETERO:GPU,CPU", "MULTI:CPU"):
            with self.subTest(device):
                done = self.run_command(
                    "run", LSTM, "--device", device, "--openvino", self.openvino("2025_4")
                )
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


if __name__ == "__main__":
    unittest.main()
