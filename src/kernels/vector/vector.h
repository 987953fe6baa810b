// Vectors of an instruction set, for the files that body.h includes.
#pragma once

#include <cstdint>
#include <xsimd/xsimd.hpp>

namespace pteron {
namespace {

template <typename T, typename Arch>
using Vector = xsimd::batch<T, Arch>;
template <typename T, typename Arch>
constexpr int64_t kLanes = static_cast<int64_t>(Vector<T, Arch>::size);

}  // namespace
}  // namespace pteron
