// .ptd files: the same rigour as for programs.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "program/file_maker.h"

namespace pteron::test {
namespace {

ptd::NamedDataT& entry(PtdFile& file, size_t index) { return *file.tensors.named_data[index]; }
ptd::TensorLayoutT& layout(PtdFile& file) { return *entry(file, 0).tensor_layout; }

struct Wrong {
  const char* says;
  std::function<void(PtdFile&)> change;
};

void expect_refused(const std::vector<Wrong>& cases) {
  ASSERT_EQ(refusal(simple_weights()), "");
  for (const auto& [says, change] : cases) {
    SCOPED_TRACE(says);
    PtdFile file = simple_weights();
    change(file);
    const auto result = decode_ptd(file.bytes());
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, Code::Malformed);
    EXPECT_NE(result.error().message.find(says), std::string::npos) << result.error().message;
    EXPECT_LT(result.error().message.size(), 400u);
  }
}

TEST(Weights, DecodeByKey) {
  const auto weights = decode_ptd(simple_weights().bytes());
  ASSERT_TRUE(weights.ok()) << weights.error().message;
  ASSERT_EQ(weights->entries.size(), 2u);
  const WeightsEntry& tensor = weights->entries[0];
  EXPECT_EQ(tensor.key, "w");
  EXPECT_EQ(tensor.data.size(), 8u);
  ASSERT_TRUE(tensor.layout.has_value());
  EXPECT_EQ(tensor.layout->dtype, DType::Float32);
  EXPECT_EQ(tensor.layout->sizes, std::vector<int32_t>{2});
  EXPECT_EQ(tensor.layout->dim_order, std::vector<uint8_t>{0});
  EXPECT_EQ(weights->entries[1].key, "raw");
  EXPECT_EQ(weights->entries[1].data.size(), 9u);
  EXPECT_FALSE(weights->entries[1].layout.has_value());
  EXPECT_EQ(weights->origin, "memory");
}

TEST(Weights, MayShareASegment) {
  PtdFile file = simple_weights();
  entry(file, 1).segment_index = 0;
  EXPECT_EQ(refusal(file), "");
}

TEST(Weights, MayBeNone) { EXPECT_EQ(refusal(PtdFile{}), ""); }

TEST(Weights, RulesOfEntries) {
  expect_refused({
      {"weights entry 1 has no key", [](PtdFile& f) { entry(f, 1).key.clear(); }},
      {"weights entry 1: its key has control", [](PtdFile& f) { entry(f, 1).key = "a\nb"; }},
      {"weights entry 1: its key is not UTF-8", [](PtdFile& f) { entry(f, 1).key = "\xfe"; }},
      {"weights entry 1: its key has 10000000 bytes",
       [](PtdFile& f) { entry(f, 1).key.assign(10'000'000, 'k'); }},
      {"weights entry 1 (\"w\") has the key of another entry",
       [](PtdFile& f) { entry(f, 1).key = "w"; }},
      {"is in segment 2, but the file has 2", [](PtdFile& f) { entry(f, 1).segment_index = 2; }},
      {"is in segment 4294967295", [](PtdFile& f) { entry(f, 1).segment_index = 0xffffffff; }},
      {"is in segment 0, but the file has 0", [](PtdFile& f) { f.tensors.segments.clear(); }},
  });
}

TEST(Weights, RulesOfLayouts) {
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  expect_refused({
      {"dtype number 8 is unknown", [](PtdFile& f) { layout(f).scalar_type = 8; }},
      {"dtype number -1 is unknown", [](PtdFile& f) { layout(f).scalar_type = -1; }},
      {"(\"w\"): size -1 of dimension 0 is negative", [](PtdFile& f) { layout(f).sizes = {-1}; }},
      {"its layout needs 4 bytes, and its segment has 8",
       [](PtdFile& f) { layout(f).sizes = {1}; }},
      {"its layout needs 12 bytes, and its segment has 8",
       [](PtdFile& f) { layout(f).sizes = {3}; }},
      {"its layout needs 0 bytes, and its segment has 8",
       [](PtdFile& f) { layout(f).sizes = {0}; }},
      {"its rank is 1, but its dim_order has 0", [](PtdFile& f) { layout(f).dim_order.clear(); }},
      {"not a permutation", [](PtdFile& f) { layout(f).dim_order = {1}; }},
      {"its rank is 17",
       [](PtdFile& f) {
         layout(f).sizes.assign(17, 1);
         layout(f).dim_order.assign(17, 0);
       }},
      {"multiply to more than any memory",
       [](PtdFile& f) {
         layout(f).sizes = {kMax, kMax, kMax, 0};
         layout(f).dim_order = {0, 1, 2, 3};
       }},
  });
}

TEST(Weights, RulesOfSegments) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  for (const uint64_t wrong : {kMax, kMax - 127, uint64_t{1} << 63, uint64_t{1} << 32}) {
    SCOPED_TRACE(wrong);
    expect_refused({
        {"lie outside the file", [&](PtdFile& f) { f.tensors.segments[1]->offset = wrong; }},
        {"lie outside the file", [&](PtdFile& f) { f.tensors.segments[1]->size = wrong; }},
    });
  }
}

TEST(Weights, RulesOfTheHeader) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  const auto set = [](size_t at, uint64_t number) {
    return [=](PtdFile& f) { f.patch = [=](ByteVector& bytes) { put(bytes, at, number); }; };
  };
  expect_refused({{"at least 40", [](PtdFile& f) {
                     f.patch = [](ByteVector& bytes) { put(bytes, 12, uint32_t{39}); };
                   }}});
  // The places of the FlatBuffer and of the segments, each an offset and a size.
  for (const size_t field : {16u, 24u, 32u, 40u}) {
    for (const uint64_t wrong : {kMax, kMax - 47, uint64_t{1} << 63, uint64_t{1} << 32})
      expect_refused({{"fewer than its header speaks of", set(field, wrong)}});
  }
  expect_refused({{"damaged", set(24, 0)}, {"lie outside the file", set(32, 0)}});
}

TEST(Weights, OfDamagedTablesAreRefused) {
  expect_refused({{"damaged", [](PtdFile& f) {
                     f.patch = [](ByteVector& bytes) { put(bytes, 0, uint32_t{0x7ffffff0}); };
                   }}});
}

}  // namespace
}  // namespace pteron::test
