// The JSON that the interface gives: docs/json.md's fields.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "operators.h"

namespace {

using nlohmann::json;

template <typename Function>
json take(Function&& function) {
  char* text = nullptr;
  expect_ok(call([&](pteron_error** error) { return function(&text, error); }));
  const StringHandle owner(text);
  return text ? json::parse(text) : json();
}

json info(const ProgramHandle& program) {
  return take([&](char** text, pteron_error** error) {
    return pteron_program_info(program.get(), text, error);
  });
}

TEST(Info, SaysWhatAProgramHolds) {
  const programs::File file = programs::state();
  const ProgramHandle program = open(file);
  const json got = info(program);
  EXPECT_EQ(got["format"], 1);
  EXPECT_EQ(got["file"], "memory");
  EXPECT_EQ(got["file_bytes"], file.size());
  EXPECT_EQ(got["named_data"], json::array());
  ASSERT_EQ(got["methods"].size(), 2u);
  const json& method = got["methods"][0];
  EXPECT_EQ(method["name"], "first");
  EXPECT_EQ(method["inputs"], json::parse(R"([{"name": "input0", "kind": "tensor",
      "dtype": "float32", "shape": [3], "dynamic": false, "dim_order": [0], "planned": true}])"));
  EXPECT_EQ(method["outputs"][0]["name"], "output0");
  EXPECT_EQ(method["instructions"], 1);
  EXPECT_EQ(method["operators"],
            json::parse(R"([{"name": "test::accumulate.out", "calls": 1, "available": false}])"));
  EXPECT_EQ(method["delegates"], json::array());
  EXPECT_EQ(method["planned_memory_bytes"], json::parse("[128, 64]"));
  EXPECT_EQ(method["external_weights"], json::array());
  ASSERT_EQ(method["state"].size(), 1u);
  EXPECT_EQ(method["state"][0]["bytes"], 12);
  EXPECT_EQ(method["state"][0]["shape"], json::parse("[3]"));
}

TEST(Info, SaysWhatWouldRunWhereAndWhatIsMissing) {
  const programs::File file = programs::one_operator();
  {
    const ProgramHandle program = open(file);
    EXPECT_EQ(info(program)["methods"][0]["runs"], json::parse(R"({"ready": false,
        "missing_operators": ["test::op.out"], "missing_delegates": [], "missing_weights": [],
        "parts": [{"part": "operators", "calls": 1, "ran_by": "", "device": "CPU"}]})"));
  }
  const WithOperators with({twice_operator()});
  const ProgramHandle program = open(file, &with.options);
  EXPECT_EQ(info(program)["methods"][0]["runs"], json::parse(R"({"ready": true,
      "missing_operators": [], "missing_delegates": [], "missing_weights": [],
      "parts": [{"part": "operators", "calls": 1, "ran_by": "kernels", "device": "CPU"}]})"));
}

TEST(Info, DescribesDelegatesThatNobodyHas) {
  const programs::File file = programs::delegated();
  const ProgramHandle program = open(file);
  const json got = info(program);
  EXPECT_EQ(got["methods"][0]["delegates"],
            json::parse(R"([{"id": "TestBackend", "calls": 1, "payload_bytes": 7,
                             "compile_specs": {"mode": "fast"}, "available": false}])"));
  EXPECT_EQ(got["methods"][0]["runs"]["missing_delegates"], json::parse(R"(["TestBackend"])"));
  EXPECT_EQ(got["methods"][1]["delegates"].size(), 2u);
}

TEST(Info, OfOtherPeoplesDelegatesWorks) {
  for (const char* model : {"crepe_xnnpack", "lstm_xnnpack", "pnet_dynamic_xnnpack"}) {
    const std::string path = std::string(PTERON_TEST_DATA "/models/") + model + ".pte";
    pteron_program* program = nullptr;
    expect_ok(call([&](pteron_error** error) {
      return pteron_program_open(path.c_str(), nullptr, &program, error);
    }));
    const ProgramHandle owner(program);
    const json got = info(owner);
    EXPECT_EQ(got["file"], path);
    EXPECT_EQ(got["methods"][0]["delegates"][0]["id"], "XnnpackBackend");
    MethodHandle method;
    expect_failure(try_load(owner, nullptr, nullptr, &method), PTERON_MISSING,
                   {"XnnpackBackend", "export it"});
  }
}

TEST(Info, TellsWhoMadeABlobAndWhereItWouldRun) {
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.device = "GPU.1";
  for (const bool asks : {false, true}) {
    pteron_program* program = nullptr;
    expect_ok(call([&](pteron_error** error) {
      return pteron_program_open(PTERON_TEST_DATA "/models/lstm_openvino.pte",
                                 asks ? &options : nullptr, &program, error);
    }));
    const ProgramHandle owner(program);
    const json method = info(owner)["methods"][0];
    EXPECT_EQ(method["delegates"][0]["compile_specs"]["device"], "CPU");
    if (!method["delegates"][0]["available"]) continue;  // Built without OpenVINO.
    EXPECT_NE(method["delegates"][0]["made_by"].get<std::string>().find("OpenVINO"),
              std::string::npos);
    EXPECT_EQ(method["runs"]["parts"][0]["ran_by"], "OpenVINO");
    EXPECT_EQ(method["runs"]["parts"][0]["device"], asks ? "GPU.1" : "CPU");
  }
}

TEST(Execution, SaysWhatRunsEachPart) {
  const programs::File file = programs::add();
  const ProgramHandle program = open(file);
  const MethodHandle method = load(program);
  const json got = take([&](char** text, pteron_error** error) {
    return pteron_method_execution(method.get(), text, error);
  });
  EXPECT_EQ(got["format"], 1);
  EXPECT_EQ(got["method"], "forward");
  ASSERT_EQ(got["execution"].size(), 1u);
  EXPECT_EQ(got["execution"][0]["ran_by"], "kernels");
  EXPECT_EQ(got["execution"][0]["device"], "CPU");
  EXPECT_EQ(got["execution"][0]["precision"], "program");
}

TEST(Profile, TimesEachInstructionOfTheLastRun) {
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.profile = 1;
  const programs::File file = programs::add();
  const ProgramHandle program = open(file, &options);
  const MethodHandle method = load(program);
  Floats x{{1, 2, 3, 4, 5, 6}, {2, 3}};
  for (int i = 0; i < 2; ++i) expect_ok(run(method, {x.value(), x.value()}));
  const json got = take([&](char** text, pteron_error** error) {
    return pteron_method_profile(method.get(), text, error);
  });
  EXPECT_EQ(got["format"], 1);
  ASSERT_EQ(got["instructions"].size(), 1u);
  const json& row = got["instructions"][0];
  EXPECT_EQ(row["name"], "aten::add.out");
  EXPECT_EQ(row["count"], 1);
  EXPECT_GE(row["total_us"], 0);
  EXPECT_GE(row["start_us"], 0);
  EXPECT_EQ(row["operators"], json::array());
}

TEST(Profile, MustHaveBeenAskedFor) {
  const programs::File file = programs::add();
  const ProgramHandle program = open(file);
  const MethodHandle method = load(program);
  char* text = nullptr;
  expect_failure(
      call([&](pteron_error** error) { return pteron_method_profile(method.get(), &text, error); }),
      PTERON_INVALID_ARGUMENT, {"profile"});
}

TEST(Machine, WhatIsRegisteredIsToldByName) {
  const json got =
      take([](char** text, pteron_error** error) { return pteron_registered(text, error); });
  EXPECT_EQ(got["format"], 1);
#ifdef PTERON_HAS_OPENVINO
  EXPECT_EQ(got["delegates"], json::parse(R"(["OpenvinoBackend"])"));
#endif
  const std::vector<std::string> operators = got["operators"];
  EXPECT_TRUE(std::is_sorted(operators.begin(), operators.end()));
  EXPECT_EQ(std::adjacent_find(operators.begin(), operators.end()), operators.end());
  EXPECT_TRUE(std::binary_search(operators.begin(), operators.end(), "aten::add.out"));
  expect_failure(call([](pteron_error** error) { return pteron_registered(nullptr, error); }),
                 PTERON_INVALID_ARGUMENT, {"json"});
}

TEST(Machine, TheDoctorAnswersWhereOpenvinoIsMissing) {
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.openvino = "no/such/folder";
  const json got =
      take([&](char** text, pteron_error** error) { return pteron_doctor(&options, text, error); });
  EXPECT_EQ(got["format"], 1);
  EXPECT_EQ(got["ok"], false);
  EXPECT_FALSE(got["problems"].empty());
  EXPECT_EQ(got["pteron"]["version"], pteron_version());
  char* text = nullptr;
  const Outcome devices =
      call([&](pteron_error** error) { return pteron_devices(&options, &text, error); });
  expect_failure(devices, PTERON_MISSING);
  expect_failure(
      call([&](pteron_error** error) { return pteron_devices(nullptr, nullptr, error); }),
      PTERON_INVALID_ARGUMENT, {"json"});
  expect_failure(call([&](pteron_error** error) { return pteron_doctor(nullptr, nullptr, error); }),
                 PTERON_INVALID_ARGUMENT, {"json"});
  expect_failure(
      call([&](pteron_error** error) { return pteron_add_openvino_path(nullptr, error); }),
      PTERON_INVALID_ARGUMENT, {"path"});
}

TEST(Machine, DevicesAreListedWhereOpenvinoIs) {
  const char* folder = std::getenv("PTERON_TEST_OPENVINO_2025_4_1");
  if (folder == nullptr) GTEST_SKIP() << "PTERON_TEST_OPENVINO_2025_4_1 is not set";
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.openvino = folder;
  const json got = take(
      [&](char** text, pteron_error** error) { return pteron_devices(&options, text, error); });
  EXPECT_EQ(got["devices"][0]["name"], "CPU");
  EXPECT_EQ(got["openvino"]["version"].get<std::string>().substr(0, 8), "2025.4.1");
}

}  // namespace
