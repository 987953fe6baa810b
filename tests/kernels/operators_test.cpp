// Replays recorded calls of operators and holds the results against PyTorch's: shapes, integers and
// bools exactly, float32 and float64 to 1e-5 (relative, with a floor of 1), float16 and bfloat16 to
// two of their last places.
//
// Each buffer is exactly as long as its tensor, so that a sanitizer sees one byte too many. Each
// case runs twice: with outputs that have their final shape, and with outputs that are larger and
// must be resized. Calls that PyTorch refuses must be refused. --cases=FILE replays another file;
// --list prints docs/operators.md.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "call.h"
#include "case_text.h"
#include "list_operators.h"
#include "runtime/signature.h"

namespace pteron {
namespace {

std::string compare(const Tensor& got, const CaseTensor& wanted, const std::string& data) {
  const std::vector<int64_t> sizes(wanted.sizes.begin(), wanted.sizes.end());
  if (!std::equal(sizes.begin(), sizes.end(), got.sizes().begin(), got.sizes().end()))
    return "shape " + describe_shape(got.sizes()) + " for " + describe_shape(sizes);
  // Both are in the same memory order.
  const size_t size = dtype_size(wanted.dtype);
  for (size_t i = 0; i < data.size() / size; ++i) {
    const std::string difference =
        compare_element(wanted.dtype, got.data<char>() + i * size, data.data() + i * size, 1e-5);
    if (!difference.empty()) return difference + " at place " + std::to_string(i) + " in memory";
  }
  return {};
}

std::string compare_output(const Call& call, const Value& got, const CaseValue& wanted) {
  if (wanted.kind == 'T') return compare(*got.tensor, wanted.tensor, wanted.tensor.data);
  for (size_t i = 0; i < wanted.items.size(); ++i) {
    const Tensor& item = *call.value(got.tensors->items[i]).tensor;
    const std::string difference =
        compare(item, wanted.items[i].tensor, wanted.items[i].tensor.data);
    if (!difference.empty()) return "item " + std::to_string(i) + ": " + difference;
  }
  return {};
}

// What is wrong with the kernel's answer to this case, or nothing.
std::string run(const Kernel& kernel, const Case& one, bool must_resize) {
  Call call(one, must_resize);
  const auto matched = match_signature(kernel, call.arguments(), call.values());
  if (!matched) return "signature: " + matched.error().message;
  TestContext context;
  const Args args(call.arguments(), call.values());
  const Result<void> result = call_kernel(kernel, context, args);
  if (is_refused(one)) {
    if (result) return "PyTorch refuses this";
    return result.error().code == Code::InvalidArgument ? "" : "refused, but not as wrong use";
  }
  if (!result) return "error: " + result.error().message;
  for (size_t i = 0; i < one.arguments.size(); ++i) {
    const CaseValue& given = one.arguments[i];
    if (given.kind != 'T' && given.kind != 'M') continue;
    const Tensor& tensor = *call.argument(i).tensor;
    if (given.kind == 'M') {
      const std::string difference = compare(tensor, given.tensor, given.changed);
      if (!difference.empty()) return "argument " + std::to_string(i) + ": " + difference;
    } else if (std::memcmp(tensor.raw(), given.tensor.data.data(), given.tensor.data.size()) != 0) {
      return "argument " + std::to_string(i) + " was changed";
    }
  }
  for (size_t i = 0; i < one.outputs.size(); ++i) {
    if (is_undefined(one, i)) continue;
    const std::string difference =
        compare_output(call, call.argument(one.arguments.size() + i), one.outputs[i]);
    if (!difference.empty()) return "output " + std::to_string(i) + ": " + difference;
  }
  return {};
}

class Replay : public testing::Test {
 public:
  Replay(const Kernel* kernel, std::vector<const Case*> cases)
      : kernel_(kernel), cases_(std::move(cases)) {}

  void TestBody() override {
    ASSERT_NE(kernel_, nullptr) << "no such operator";
    size_t failed = 0;
    for (const Case* one : cases_) {
      std::string wrong = is_refused(*one) ? "" : run(*kernel_, *one, false);
      if (wrong.empty()) {
        wrong = run(*kernel_, *one, true);
        if (!wrong.empty()) wrong = "with larger outputs: " + wrong;
      }
      if (wrong.empty()) continue;
      if (++failed <= 4) ADD_FAILURE() << describe(*one) << "\n  " << wrong;
    }
    EXPECT_EQ(failed, 0u) << "of " << cases_.size() << " cases";
  }

 private:
  const Kernel* kernel_;
  std::vector<const Case*> cases_;
};

// Operators without cases, from exceptions.txt: NAME CAUSE.
std::set<std::string> read_untested() {
  std::set<std::string> names;
  std::ifstream file(PTERON_EXPECTATIONS);
  std::string line;
  while (std::getline(file, line)) {
    std::string name;
    if (line.empty() || line[0] == '#') continue;
    std::istringstream(line) >> name;
    names.insert(name);
  }
  return names;
}

class Coverage : public testing::Test {
 public:
  explicit Coverage(std::set<std::string> covered) : covered_(std::move(covered)) {}
  void TestBody() override {
    const std::set<std::string> untested = read_untested();
    for (const auto& [name, kernel] : kernels_by_name())
      EXPECT_NE(covered_.count(name), untested.count(name)) << name;
  }

 private:
  std::set<std::string> covered_;
};

class Document : public testing::Test {
 public:
  explicit Document(std::string wanted) : wanted_(std::move(wanted)) {}
  void TestBody() override {
    std::ifstream file(PTERON_OPERATORS_DOCUMENT);
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_TRUE(text.str() == wanted_) << "run operators_test --list > docs/operators.md";
  }

 private:
  std::string wanted_;
};

}  // namespace
}  // namespace pteron

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::string path = PTERON_TEST_DATA "/operators.bin.gz";
  bool is_kept = true;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--cases=", 8) == 0) {
      path = argv[i] + 8;
      is_kept = false;
    }
  }
  static std::vector<pteron::Case> cases = pteron::read_cases(path);
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    std::cout << pteron::list_operators(cases);
    return 0;
  }
  if (is_kept) {
    for (auto& one : pteron::read_cases(PTERON_TEST_DATA "/refused_calls.bin.gz"))
      cases.push_back(std::move(one));
  }
  std::map<std::string, std::vector<const pteron::Case*>> by_name;
  for (const auto& one : cases) by_name[one.name].push_back(&one);
  const auto kernels = pteron::kernels_by_name();
  std::set<std::string> covered;
  for (const auto& [name, list] : by_name) {
    covered.insert(name);
    std::string title = name;
    for (char& c : title) c = c == ':' || c == '.' ? '_' : c;
    const auto found = kernels.find(name);
    const pteron::Kernel* kernel = found == kernels.end() ? nullptr : found->second;
    testing::RegisterTest(
        "Operators", title.c_str(), nullptr, nullptr, __FILE__, __LINE__,
        [kernel, own = list]() -> testing::Test* { return new pteron::Replay(kernel, own); });
  }
  if (is_kept) {
    testing::RegisterTest("Operators", "EachOneHasCasesOrAReason", nullptr, nullptr, __FILE__,
                          __LINE__,
                          [covered]() -> testing::Test* { return new pteron::Coverage(covered); });
    testing::RegisterTest(
        "Operators", "TheDocumentIsUpToDate", nullptr, nullptr, __FILE__, __LINE__,
        []() -> testing::Test* { return new pteron::Document(pteron::list_operators(cases)); });
  }
  return RUN_ALL_TESTS();
}
