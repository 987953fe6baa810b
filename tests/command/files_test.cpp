// Files that the command writes, when it is interrupted while it does.
#include "files.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>

namespace {

namespace fs = std::filesystem;

class WriteFile : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string("pteron_") + test->name();
    for (char& c : name) {
      if (c == '/') c = '_';
    }
    folder_ = fs::path(testing::TempDir()) / name;
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_P(WriteFile, LeavesNothingWhenASignalEndsTheProcess) {
  const int number = GetParam();
  const auto write = [&](std::ostream& out) {
    out << "half" << std::flush;
    if (files() != 1) std::_Exit(99);  // The half is there, so that it can be left behind.
    std::raise(number);
  };
  EXPECT_EXIT(tools::write_file((folder_ / "out").string(), write), testing::KilledBySignal(number),
              "");
  EXPECT_EQ(files(), 0u);
}
INSTANTIATE_TEST_SUITE_P(, WriteFile, testing::Values(SIGINT, SIGTERM, SIGHUP));

using WriteFileOnce = WriteFile;

TEST_P(WriteFileOnce, LeavesAnIgnoredSignalIgnoredAndTheOthersAsTheyWere) {
  std::signal(GetParam(), SIG_IGN);
  tools::write_file((folder_ / "out").string(), [&](std::ostream& out) {
    std::raise(GetParam());
    out << "whole";
  });
  EXPECT_EQ(fs::file_size(folder_ / "out"), 5u);
  EXPECT_EQ(std::signal(GetParam(), SIG_DFL), SIG_IGN);
  tools::write_file((folder_ / "out").string(), [](std::ostream& out) { out << "again"; });
  EXPECT_EQ(std::signal(GetParam(), SIG_DFL), SIG_DFL);
  EXPECT_EQ(files(), 1u);
}
INSTANTIATE_TEST_SUITE_P(, WriteFileOnce, testing::Values(SIGINT));

}  // namespace
