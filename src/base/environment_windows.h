// How a variable is read on Windows. Included by *_windows.cpp, and by the test that brings a
// reader.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace pteron {

// As GetEnvironmentVariableW for one variable: the length without the final NUL, or, where the
// buffer is too small, the size that is wanted with it. 0 sets the last error.
using VariableReader = std::function<unsigned long(wchar_t* buffer, unsigned long size)>;

// The whole value, however it changes between calls of `read`; nothing if there is no such
// variable.
std::optional<std::wstring> read_variable(const VariableReader& read);

}  // namespace pteron
