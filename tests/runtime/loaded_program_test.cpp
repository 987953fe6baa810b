#include "runtime/loaded_program.h"

#include <gtest/gtest.h>

#include "runtime/program_maker.h"

namespace pteron::test {
namespace {

Weights weights(std::string origin, std::vector<std::string> keys) {
  Weights out;
  out.origin = std::move(origin);
  for (std::string& key : keys) out.entries.push_back({std::move(key), {}, {}});
  return out;
}

TEST(LoadedProgram, RefusesAKeyThatTwoWeightsFilesHave) {
  RuntimeOptions options;
  options.weights = {weights("a.ptd", {"w", "b"}), weights("b.ptd", {"c", "b"})};
  const auto result = load_program({PlanMaker()}, options);
  EXPECT_EQ(code(result), Code::InvalidArgument);
  EXPECT_EQ(message(result),
            "b.ptd: the weights \"b\" are in another file too; give each key once");
}

TEST(LoadedProgram, FindsWeightsOfEveryFile) {
  RuntimeOptions options;
  options.weights = {weights("a.ptd", {"w"}), weights("b.ptd", {"c"})};
  const auto program = *load_program({PlanMaker()}, options);
  EXPECT_NE(program->find_weights("w"), nullptr);
  EXPECT_NE(program->find_weights("c"), nullptr);
  EXPECT_EQ(program->find_weights("d"), nullptr);
}

TEST(LoadedProgram, PrefersAnEarlierTablesKernel) {
  static const Kernel kMine[] = {{"test::add", "TT>T", nullptr}};
  RuntimeOptions options;
  options.kernels.emplace_back(kMine);
  const auto program = *load_program({PlanMaker()}, options);
  EXPECT_EQ(program->find_kernel("test::add"), &kMine[0]);
  EXPECT_NE(program->find_kernel("test::scale"), nullptr);
  EXPECT_EQ(program->find_kernel("test::nothing"), nullptr);
}

// Which of two delegates share one compiled model.
class Sharing : public ::testing::Test {
 protected:
  bool share(const DelegateDef& a, const DelegateDef& b) {
    RuntimeOptions options;
    options.delegates.push_back(std::make_shared<FakeDelegate>());
    const auto program = *load_program({PlanMaker()}, options);
    return *program->compiled(a, "forward") == *program->compiled(b, "forward");
  }
  static Bytes bytes(const std::string& text) {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
  }
  static DelegateDef def(const std::string& payload, std::vector<CompileSpec> specs = {}) {
    return {"Fake", bytes(payload), true, std::move(specs)};
  }
};

TEST_F(Sharing, IsOfEqualBytesWhereverTheyLie) {
  const std::string a = "payload";
  const std::string b = "payload";
  const std::string c = "another";
  EXPECT_TRUE(share(def(a), def(b)));
  EXPECT_FALSE(share(def(a), def(c)));
}

TEST_F(Sharing, IsOfEqualCompileSpecsOnly) {
  const std::string payload = "payload";
  const std::string cpu = "CPU";
  const std::string gpu = "GPU";
  EXPECT_TRUE(
      share(def(payload, {{"device", bytes(cpu)}}), def(payload, {{"device", bytes(cpu)}})));
  EXPECT_FALSE(
      share(def(payload, {{"device", bytes(cpu)}}), def(payload, {{"device", bytes(gpu)}})));
  EXPECT_FALSE(share(def(payload), def(payload, {{"device", bytes(cpu)}})));
  // One spec whose value looks like the end of it and a second spec.
  const std::string tricky("x\0b\0y", 5);
  const std::string x = "x";
  const std::string y = "y";
  EXPECT_FALSE(share(def(payload, {{"a", bytes(tricky)}}),
                     def(payload, {{"a", bytes(x)}, {"b", bytes(y)}})));
}

}  // namespace
}  // namespace pteron::test
