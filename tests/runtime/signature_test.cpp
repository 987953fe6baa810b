#include "runtime/signature.h"

#include <gtest/gtest.h>

#include "runtime/program_maker.h"

namespace pteron::test {
namespace {

// Values 0..: tensor, tensor, int, double, bool, none, list of ints, list of tensors {0, 1}, list
// of tensors {0, 1} again, list of tensors {1}, string.
class Match : public ::testing::Test {
 protected:
  Match() {
    for (const ValueDef& def : defs_) {
      Value value;
      value.kind = value_kind(def);
      if (value.kind == ValueKind::TensorList) value.tensors = &std::get<TensorList>(def);
      values_.push_back(value);
    }
  }

  Result<std::span<const ValueIndex>> match(std::string_view signature,
                                            const std::vector<ValueIndex>& args) {
    args_ = args;
    const Kernel kernel{"test::op", signature, nullptr};
    return match_signature(kernel, args_, values_.data());
  }
  size_t matched(std::string_view signature, const std::vector<ValueIndex>& args) {
    auto result = match(signature, args);
    EXPECT_TRUE(result.ok()) << message(result);
    return result.ok() ? result->size() : 0;
  }

  std::vector<ValueDef> defs_ = {TensorDef{},
                                 TensorDef{},
                                 int64_t{1},
                                 1.0,
                                 true,
                                 NoneDef{},
                                 IntList{},
                                 TensorList{{0, 1}},
                                 TensorList{{0, 1}},
                                 TensorList{{1}},
                                 std::string("text")};
  std::vector<Value> values_;
  std::vector<ValueIndex> args_;
};

TEST_F(Match, DropsTheOutputThatIsNamedAgain) {
  EXPECT_EQ(matched("TS>T", {0, 2, 1, 1}), 3u);
  EXPECT_EQ(matched("TS>T", {0, 2, 1}), 3u);
}

TEST_F(Match, DropsSeveralOutputsNamedAgainAsAListOrOneByOne) {
  EXPECT_EQ(matched("S>TT", {2, 0, 1, 7}), 3u);
  EXPECT_EQ(matched("S>TT", {2, 0, 1, 0, 1}), 3u);
}

TEST_F(Match, DropsAListNamedAgainAsAnotherListOfTheSameTensors) {
  EXPECT_EQ(matched("S>V", {2, 7, 8}), 2u);
  EXPECT_EQ(matched("S>V", {2, 7, 7}), 2u);
  EXPECT_EQ(code(match("S>V", {2, 7, 9})), Code::Malformed);
}

TEST_F(Match, DropsWhatIsChangedInPlaceNamedAgain) {
  EXPECT_EQ(matched("MTB", {0, 1, 4, 0}), 3u);
  EXPECT_EQ(matched("MTI", {0, 1, 2}), 3u);
}

TEST_F(Match, RefusesAReturnSlotThatNamesSomethingElse) {
  const auto result = match("TS>T", {0, 2, 1, 0});
  EXPECT_EQ(code(result), Code::Malformed);
  EXPECT_EQ(
      message(result),
      "after its 3 arguments the program gives value 0, where only the operator's outputs may "
      "be named again");
  EXPECT_EQ(code(match("S>TT", {2, 0, 1, 9})), Code::Malformed);
  EXPECT_EQ(code(match("S>TT", {2, 0, 1, 1, 0})), Code::Malformed);
}

TEST_F(Match, RefusesAnotherNumberOfArguments) {
  const auto few = match("TS>T", {0, 2});
  EXPECT_EQ(code(few), Code::Malformed);
  EXPECT_EQ(message(few), "the operator takes 3 arguments, but the program gives 2");
  EXPECT_EQ(code(match("TS>T", {0, 2, 1, 1, 1})), Code::Malformed);
}

TEST_F(Match, RefusesAnotherKind) {
  const auto result = match("TT>T", {0, 2, 1});
  EXPECT_EQ(code(result), Code::Malformed);
  EXPECT_EQ(message(result), "argument 1 is a value of kind int, but the operator takes a tensor");
  EXPECT_EQ(code(match("TI>T", {0, 3, 1})), Code::Malformed);
  EXPECT_EQ(code(match("TL>T", {0, 2, 1})), Code::Malformed);
}

TEST_F(Match, EachLetterTakesItsKinds) {
  struct Case {
    char letter;
    std::vector<ValueKind> kinds;
  };
  using K = ValueKind;
  const std::vector<Case> cases = {
      {'T', {K::Tensor}},
      {'M', {K::Tensor}},
      {'A', {K::Tensor}},
      {'t', {K::Tensor, K::None}},
      {'V', {K::TensorList}},
      {'v', {K::TensorList, K::OptionalTensorList}},
      {'S', {K::Int, K::Double, K::Bool}},
      {'X', {K::Int, K::Double, K::Bool}},
      {'s', {K::Int, K::Double, K::Bool, K::None}},
      {'I', {K::Int}},
      {'i', {K::Int, K::None}},
      {'D', {K::Double, K::Int}},
      {'d', {K::Double, K::Int, K::None}},
      {'B', {K::Bool}},
      {'b', {K::Bool, K::None}},
      {'L', {K::IntList}},
      {'l', {K::IntList, K::None}},
      {'F', {K::DoubleList}},
      {'f', {K::DoubleList, K::None}},
      {'Q', {K::BoolList}},
      {'G', {K::String}},
      {'g', {K::String, K::None}},
  };
  for (const Case& c : cases) {
    EXPECT_TRUE(is_valid_signature(std::string(1, c.letter)) || c.letter == 'A') << c.letter;
    for (int kind = 0; kind <= static_cast<int>(K::OptionalTensorList); ++kind) {
      const auto k = static_cast<K>(kind);
      const bool wanted = std::find(c.kinds.begin(), c.kinds.end(), k) != c.kinds.end();
      EXPECT_EQ(letter_accepts(c.letter, k), wanted) << c.letter << " " << value_kind_name(k);
    }
  }
  EXPECT_FALSE(letter_accepts('?', K::Tensor));
}

TEST(Signature, KnowsInputsAndOutputs) {
  const Signature signature("MT>TI");
  EXPECT_EQ(signature.size(), 4u);
  EXPECT_EQ(signature.letter(2), 'T');
  EXPECT_EQ(signature.letter(3), 'I');
  EXPECT_TRUE(signature.writes(0) && signature.reads(0));
  EXPECT_FALSE(signature.writes(1));
  EXPECT_TRUE(signature.writes(3));
  EXPECT_FALSE(signature.reads(3));
}

TEST(Signature, OfUnknownOrMisplacedLettersIsRefused) {
  EXPECT_TRUE(is_valid_signature(""));
  EXPECT_TRUE(is_valid_signature("TL>A"));
  EXPECT_FALSE(is_valid_signature("T>T>T"));
  EXPECT_FALSE(is_valid_signature("Z"));
  EXPECT_FALSE(is_valid_signature("TA"));
  EXPECT_FALSE(is_valid_signature("S>A"));
  EXPECT_FALSE(is_valid_signature(">A"));
}

}  // namespace
}  // namespace pteron::test
