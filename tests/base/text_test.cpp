#include "base/text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

using namespace pteron;

TEST(Counted, SaysOneOfAThingAndMoreOfThem) {
  EXPECT_EQ(counted(0, "input"), "0 inputs");
  EXPECT_EQ(counted(1, "input"), "1 input");
  EXPECT_EQ(counted(uint64_t{12}, "input"), "12 inputs");
  EXPECT_EQ(counted(int64_t{1}, "index", "indices"), "1 index");
  EXPECT_EQ(counted(int64_t{2}, "index", "indices"), "2 indices");
}

TEST(Escaped, LeavesTextOfAnyLanguageAsItIs) {
  const std::string text = "Modell \xd0\xbc\xd0\xbe\xd0\xb4 \xe6\xa8\xa1 \xc2\xa0\xc3\xa9 \\n \xff";
  EXPECT_EQ(escaped(text), text);
}

TEST(Escaped, LeavesNothingThatSteersATerminal) {
  EXPECT_EQ(escaped("a\nb\r\tc"), "a\\nb\\x0d\\tc");
  EXPECT_EQ(escaped("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(escaped(std::string("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(escaped("\xc2\x9b"
                    "2J\xc2\x80\xc2\x9f"),
            "\\x9b2J\\x80\\x9f");
  EXPECT_EQ(escaped("cut \xc2"), "cut \xc2");
}
