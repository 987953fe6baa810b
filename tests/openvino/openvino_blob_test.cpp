// Compiled models before OpenVINO reads them: who made them, and whether their own offsets fit.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "openvino/blob.h"

namespace pteron {
namespace {

constexpr size_t kHeader = 48;

std::string bytes_of(uint64_t number) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &number, 8);
  return bytes;
}

// A CPU blob of 8 bytes of settings, 16 of weights and 32 of model.
std::string cpu_blob(std::array<uint64_t, 6> header = {48, 8, 56, 16, 72, 32}) {
  std::string blob;
  for (const uint64_t number : header) blob += bytes_of(number);
  return blob + std::string(8 + 16 + 32, 'x');
}

std::string stamped(const std::string& stamp, const std::string& rest = cpu_blob()) {
  return "RR_UPCVO" + std::string("\1\0\0\0", 4) + bytes_of(stamp.size()) + stamp + rest;
}

// In memory of exactly its size, so that a sanitizer sees one byte too many.
Result<BlobInfo> inspect(const std::string& blob) {
  const std::vector<char> exact(blob.begin(), blob.end());
  return inspect_blob(std::as_bytes(std::span(exact)));
}

void expect_damaged(const std::string& blob, const char* why) {
  const auto info = inspect(blob);
  ASSERT_FALSE(info.ok()) << why;
  EXPECT_EQ(info.error().code, Code::Malformed);
  EXPECT_NE(info.error().message.find("damaged"), std::string::npos) << info.error().message;
  EXPECT_NE(info.error().message.find(why), std::string::npos) << info.error().message;
}

TEST(OpenvinoBlob, KnowsTheCpusBlobWithoutAStamp) {
  const auto info = inspect(cpu_blob());
  ASSERT_TRUE(info.ok()) << info.error().message;
  EXPECT_EQ(info->kind, BlobKind::Cpu);
  EXPECT_NE(info->maker().find("before 2026"), std::string::npos) << info->maker();
}

TEST(OpenvinoBlob, ReadsVersionAndInstructionSetFromTheStamp) {
  const auto info = inspect(stamped("meta=1.0;ov=2026.4.1;isa=Intel AVX-512 with Intel DL Boost"));
  ASSERT_TRUE(info.ok()) << info.error().message;
  EXPECT_EQ(info->kind, BlobKind::CpuStamped);
  EXPECT_EQ(info->version, "2026.4.1");
  EXPECT_EQ(info->isa, "Intel AVX-512 with Intel DL Boost");
}

TEST(OpenvinoBlob, TakesAStampThatTellsNoVersion) {
  for (const char* stamp : {"", ";", ";;;", "ov=", "ov=;", "meta=1.0;nov=3", "isa=\xff\x1b[2J"}) {
    const auto info = inspect(stamped(stamp));
    ASSERT_TRUE(info.ok()) << info.error().message;
    EXPECT_EQ(info->version, "of unknown version") << stamp;
    EXPECT_EQ(info->isa.find('\x1b'), std::string::npos);
  }
}

TEST(OpenvinoBlob, FindsEveryTruncationDamaged) {
  for (const std::string& whole : {cpu_blob(), stamped("meta=1.0;ov=2026.4.1;isa=AVX2")}) {
    ASSERT_TRUE(inspect(whole).ok());
    for (size_t size = kHeader; size < whole.size(); ++size) {
      const auto info = inspect(whole.substr(0, size));
      EXPECT_FALSE(info.ok()) << size << " of " << whole.size();
    }
    // Shorter than a header it is no blob of the CPU's, which is for the device to say.
    for (size_t size = 0; size < kHeader; ++size) (void)inspect(whole.substr(0, size));
  }
}

TEST(OpenvinoBlob, FindsPartsOutsideTheBlobDamaged) {
  const uint64_t huge = ~uint64_t{0};
  expect_damaged(cpu_blob({48, huge, 56, 16, 72, 32}), "settings");
  expect_damaged(cpu_blob({48, 8, huge, 16, 72, 32}), "weights");
  expect_damaged(cpu_blob({48, 8, 56, huge - 55, 72, 32}), "weights");
  expect_damaged(cpu_blob({48, 8, 56, 16, 72, 33}), "model");
  expect_damaged(cpu_blob({48, 8, 56, 16, huge - 8, 32}), "model");
  expect_damaged(cpu_blob({48, 8, 40, 16, 72, 32}), "weights");
  expect_damaged(cpu_blob({48, 8, 56, 16, 104, 0}), "no model");
  expect_damaged(cpu_blob() + "y", "1 byte too many after its model");
  expect_damaged(stamped("ov=2026.4.1", ""), "ends within its header");
  std::string long_stamp = stamped("ov=2026.4.1");
  long_stamp.replace(12, 8, bytes_of(huge));
  expect_damaged(long_stamp, "stamp");
  expect_damaged("", "empty");
  expect_damaged("<?xml version=\"1.0\"?><net/>" + std::string(60, ' '), "IR");
}

}  // namespace
}  // namespace pteron
