// Opening programs, from files and from memory, and what is wrong with arguments.
#include <filesystem>
#include <fstream>

#include "support.h"

namespace {

namespace fs = std::filesystem;

// Windows' words differ from language to language, so that its number counts.
#ifdef _WIN32
constexpr const char* kNoSuchFolder = "(error 3)";
#else
constexpr const char* kNoSuchFolder = "No such file";
#endif

TEST(Open, ReadsAProgramFromMemoryAtAnyAlignment) {
  const programs::File file = programs::add();
  for (size_t shift : {1, 3, 8}) {
    std::vector<std::byte> moved(file.size() + shift);
    std::copy(file.begin(), file.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
    pteron_program* program = nullptr;
    expect_ok(call([&](pteron_error** error) {
      return pteron_program_open_memory(moved.data() + shift, file.size(), nullptr, &program,
                                        error);
    }));
    const ProgramHandle owner(program);
    ASSERT_EQ(pteron_program_method_count(program), 1u);
    EXPECT_STREQ(pteron_program_method_name(program, 0), "forward");
    EXPECT_EQ(pteron_program_method_name(program, 1), nullptr);
  }
}

TEST(Open, TakesACopyThatOutlivesTheCallersMemory) {
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.copy_file = 1;
  ProgramHandle program;
  {
    programs::File file = programs::add();
    expect_ok(try_open(file, &options, &program));
    std::fill(file.begin(), file.end(), std::byte{0xff});
  }
  const MethodHandle method = load(program);
  Floats x{{1, 2, 3, 4, 5, 6}, {2, 3}};
  expect_ok(run(method, {x.value(), x.value()}));
  EXPECT_EQ(output(method).data, (std::vector<float>{2, 4, 6, 8, 10, 12}));
}

TEST(Open, ReadsAFileUnderAnyName) {
  const fs::path folder = fs::path(testing::TempDir()) / fs::path(std::u8string(u8"привет 模型 é"));
  fs::create_directories(folder);
  const fs::path path = folder / "add.pte";
  const programs::File bytes = programs::add();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  const std::u8string name = path.u8string();
  for (int32_t copy : {0, 1}) {
    pteron_program_options options = PTERON_INIT(pteron_program_options);
    options.copy_file = copy;
    pteron_program* program = nullptr;
    expect_ok(call([&](pteron_error** error) {
      return pteron_program_open(reinterpret_cast<const char*>(name.c_str()), &options, &program,
                                 error);
    }));
    const ProgramHandle owner(program);
    EXPECT_NE(load(owner), nullptr);
  }
  fs::remove_all(folder);
}

TEST(Open, NamesAFileThatIsNotThereAndTheReason) {
  pteron_program* program = nullptr;
  expect_failure(call([&](pteron_error** error) {
                   return pteron_program_open("no/such/model.pte", nullptr, &program, error);
                 }),
                 PTERON_IO, {"no/such/model.pte", kNoSuchFolder});
  EXPECT_EQ(program, nullptr);
}

TEST(Open, SaysThatBytesAreNoProgram) {
  ProgramHandle program;
  expect_failure(try_open(programs::File(200, std::byte{'x'}), nullptr, &program),
                 PTERON_MALFORMED);
  expect_failure(try_open({}, nullptr, &program), PTERON_MALFORMED);
  programs::File cut = programs::add();
  cut.resize(cut.size() / 2);
  expect_failure(try_open(cut, nullptr, &program), PTERON_MALFORMED);
}

TEST(Open, RefusesNullArguments) {
  pteron_program* program = nullptr;
  const auto open_path = [&](const char* path, pteron_program** out) {
    return call(
        [&](pteron_error** error) { return pteron_program_open(path, nullptr, out, error); });
  };
  expect_failure(open_path(nullptr, &program), PTERON_INVALID_ARGUMENT, {"path"});
  expect_failure(open_path("x.pte", nullptr), PTERON_INVALID_ARGUMENT, {"program"});
  expect_failure(call([&](pteron_error** error) {
                   return pteron_program_open_memory(nullptr, 10, nullptr, &program, error);
                 }),
                 PTERON_INVALID_ARGUMENT, {"data"});
  expect_failure(call([&](pteron_error** error) {
                   return pteron_program_open_memory("x", 1, nullptr, nullptr, error);
                 }),
                 PTERON_INVALID_ARGUMENT, {"program"});
  EXPECT_EQ(pteron_program_method_count(nullptr), 0u);
  EXPECT_EQ(pteron_program_method_name(nullptr, 0), nullptr);
  pteron_program_free(nullptr);
  char* json = nullptr;
  expect_failure(
      call([&](pteron_error** error) { return pteron_program_info(nullptr, &json, error); }),
      PTERON_INVALID_ARGUMENT, {"program"});
  const programs::File file = programs::add();
  const ProgramHandle opened = open(file);
  expect_failure(
      call([&](pteron_error** error) { return pteron_program_info(opened.get(), nullptr, error); }),
      PTERON_INVALID_ARGUMENT, {"json"});
}

TEST(Open, NeedsNoErrorPointer) {
  pteron_program* program = nullptr;
  EXPECT_EQ(pteron_program_open("no/such/model.pte", nullptr, &program, nullptr), PTERON_IO);
  EXPECT_EQ(pteron_program_open(nullptr, nullptr, &program, nullptr), PTERON_INVALID_ARGUMENT);
}

TEST(Error, OfNothingIsHarmless) {
  EXPECT_EQ(pteron_error_status(nullptr), PTERON_OK);
  EXPECT_STREQ(pteron_error_message(nullptr), "");
  pteron_error_free(nullptr);
  pteron_string_free(nullptr);
}

TEST(DType, HasNamesAndSizes) {
  EXPECT_STREQ(pteron_dtype_name(PTERON_FLOAT32), "float32");
  EXPECT_STREQ(pteron_dtype_name(PTERON_BFLOAT16), "bfloat16");
  EXPECT_EQ(pteron_dtype_size(PTERON_INT64), 8u);
  EXPECT_EQ(pteron_dtype_size(PTERON_BOOL), 1u);
  // The gaps between ExecuTorch's numbers.
  EXPECT_STREQ(pteron_dtype_name(static_cast<pteron_dtype>(8)), "unknown");
  EXPECT_EQ(pteron_dtype_size(static_cast<pteron_dtype>(30)), 0u);
}

TEST(Version, IsTheHeaders) { EXPECT_EQ(pteron_abi_version(), uint32_t{PTERON_ABI_VERSION}); }

TEST(Load, NamesTheMethodsThatThereAre) {
  const programs::File file = programs::delegated();
  const ProgramHandle program = open(file);
  MethodHandle method;
  expect_failure(try_load(program, "backward", nullptr, &method), PTERON_INVALID_ARGUMENT,
                 {"backward", "\"forward\"", "\"other\""});
  EXPECT_EQ(method, nullptr);
}

TEST(Load, RefusesNullArguments) {
  const programs::File file = programs::add();
  const ProgramHandle program = open(file);
  pteron_method* method = nullptr;
  expect_failure(call([&](pteron_error** error) {
                   return pteron_method_load(nullptr, "forward", nullptr, &method, error);
                 }),
                 PTERON_INVALID_ARGUMENT, {"program"});
  expect_failure(call([&](pteron_error** error) {
                   return pteron_method_load(program.get(), "forward", nullptr, nullptr, error);
                 }),
                 PTERON_INVALID_ARGUMENT, {"method"});
}

TEST(Load, NamesAMissingOperatorAndStillInspectsTheProgram) {
  const programs::File file = programs::one_operator();
  const ProgramHandle program = open(file);
  MethodHandle method;
  expect_failure(try_load(program, "forward", nullptr, &method), PTERON_MISSING,
                 {"forward", "test::op.out"});
  char* json = nullptr;
  expect_ok(
      call([&](pteron_error** error) { return pteron_program_info(program.get(), &json, error); }));
  const StringHandle owner(json);
  EXPECT_NE(std::string(json).find("test::op.out"), std::string::npos);
}

TEST(Load, NamesAMissingDelegateAndTheRemedy) {
  const programs::File file = programs::delegated();
  const ProgramHandle program = open(file);
  MethodHandle method;
  expect_failure(try_load(program, "forward", nullptr, &method), PTERON_MISSING,
                 {"TestBackend", "export it"});
}

TEST(Load, OutlivesTheProgramsHandle) {
  const programs::File file = programs::add();
  ProgramHandle program = open(file);
  const MethodHandle method = load(program);
  program.reset();
  Floats x{{1, 2, 3, 4, 5, 6}, {2, 3}};
  expect_ok(run(method, {x.value(), x.value()}));
  EXPECT_EQ(output(method).data[5], 12);
}

TEST(Program, NamesNothingInAnErrorThatSteersATerminal) {
  pteron_program* program = nullptr;
  const Outcome outcome = call([&](pteron_error** error) {
    return pteron_program_open("no\x1b[2J\nsuch\xc2\x9b.pte", nullptr, &program, error);
  });
  expect_failure(outcome, PTERON_IO, {"no\\x1b[2J\\nsuch\\x9b.pte"});
}

}  // namespace
