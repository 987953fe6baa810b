#include "base/shared_library.h"

#include <gtest/gtest.h>

#include "base/paths.h"
#include "base/temp_folder.h"

namespace pteron {
namespace {

TEST(SharedLibrary, CallsAFunctionThatItFound) {
  const auto library = SharedLibrary::open("libm.so.6");
  ASSERT_TRUE(library.ok()) << library.error().message;
  auto* const floor_of = library->find<double(double)>("floor");
  ASSERT_NE(floor_of, nullptr);
  EXPECT_EQ(floor_of(2.5), 2.0);
  EXPECT_EQ(library->find<void()>("no_such_function"), nullptr);
}

TEST(SharedLibrary, FailsWithTheSystemsWordsAndTheName) {
  const auto absent = SharedLibrary::open("libpteron_none.so");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, Code::Missing);
  EXPECT_NE(absent.error().message.find("libpteron_none.so"), std::string::npos);

  const TempFolder top;
  const auto text = SharedLibrary::open(top.write("libtext.so", "no library"));
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().message.find("libtext.so"), std::string::npos);
}

TEST(SharedLibrary, TakesNoBareNameFromTheCurrentFolder) {
  const auto library = SharedLibrary::open("libm.so.6");
  ASSERT_TRUE(library.ok()) << library.error().message;
  const auto file = SharedLibrary::file_of(library->find<void()>("floor"));
  ASSERT_TRUE(std::filesystem::exists(file)) << file;
  const TempFolder top;
  std::filesystem::copy(file, top / "libpteron_copy.so");
  std::filesystem::current_path(top.path());
  EXPECT_FALSE(SharedLibrary::open("libpteron_copy.so").ok());
  EXPECT_TRUE(SharedLibrary::open(top / "libpteron_copy.so").ok());
}

TEST(SharedLibrary, FindsWhatIsLoadedByTheBeginningOfItsName) {
  EXPECT_NE(SharedLibrary::find_loaded("libc.so").native().find("libc.so"), std::string::npos);
  EXPECT_TRUE(SharedLibrary::find_loaded("libpteron_none.so").empty());
}

TEST(SharedLibrary, KnowsNoFileOfWhatIsNoFunction) {
  EXPECT_TRUE(SharedLibrary::file_of(nullptr).empty());
}

}  // namespace
}  // namespace pteron
