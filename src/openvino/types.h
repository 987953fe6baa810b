// The types of OpenVINO's C interface, in our own declarations: building Pteron needs no OpenVINO.
//
// Layouts and numbers are those of OpenVINO 2025.1 and later; tests/openvino/headers proves them
// against the headers in OpenVINO's own packages. Names are OpenVINO's, so that its documentation
// applies.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pteron::ov {

// How every call ends. ov_get_error_info() has a short text for each.
enum class ov_status_e : int {
  Ok = 0,
  GeneralError = -1,
  NotImplemented = -2,
  NetworkNotLoaded = -3,
  ParameterMismatch = -4,
  NotFound = -5,
  OutOfBounds = -6,
  Unexpected = -7,
  RequestBusy = -8,
  ResultNotReady = -9,
  NotAllocated = -10,
  InferNotStarted = -11,
  NetworkNotRead = -12,
  InferCancelled = -13,
  InvalidCParam = -14,
  UnknownCError = -15,
  NotImplementedCMethod = -16,
  UnknownException = -17,
};

// An element's type. Before 2025.1 all numbers from Boolean on were one higher.
enum class ov_element_type_e : unsigned {
  Dynamic = 0,
  Boolean = 1,
  BF16 = 2,
  F16 = 3,
  F32 = 4,
  F64 = 5,
  I4 = 6,
  I8 = 7,
  I16 = 8,
  I32 = 9,
  I64 = 10,
  U1 = 11,
  U2 = 12,
  U3 = 13,
  U4 = 14,
  U6 = 15,
  U8 = 16,
  U16 = 17,
  U32 = 18,
  U64 = 19,
  NF4 = 20,
  F8E4M3 = 21,
  F8E5M2 = 22,
  String = 23,
  F4E2M1 = 24,
  F8E8M0 = 25,
};

enum class ov_profiling_status_e : unsigned { NotRun = 0, OptimizedOut = 1, Executed = 2 };

struct ov_core_t;
struct ov_model_t;
struct ov_compiled_model_t;
struct ov_infer_request_t;
struct ov_tensor_t;
struct ov_output_const_port_t;

struct ov_version_t {
  const char* build_number;  // "2025.4.1-20426-82bbf0292c5-releases/2025/4"
  const char* description;
};

struct ov_available_devices_t {
  char** devices;
  size_t size;
};

// Freed by ov_shape_free if OpenVINO filled it. A hand-made {0, nullptr} is the shape of a scalar;
// ov_shape_create refuses rank 0.
struct ov_shape_t {
  int64_t rank;
  int64_t* dims;
};

// A dimension or a rank between two bounds: fixed if they are equal; max is -1 if there is no upper
// one.
struct ov_dimension_t {
  int64_t min;
  int64_t max;
};
using ov_rank_t = ov_dimension_t;

// Freed by ov_partial_shape_free. `dims` is null if the rank itself is not fixed.
struct ov_partial_shape_t {
  ov_rank_t rank;
  ov_dimension_t* dims;
};

struct ov_profiling_info_t {
  ov_profiling_status_e status;
  int64_t real_time;  // Microseconds.
  int64_t cpu_time;   // Microseconds.
  const char* node_name;
  const char* exec_type;
  const char* node_type;
};

struct ov_profiling_info_list_t {
  ov_profiling_info_t* profiling_infos;
  size_t size;
};

}  // namespace pteron::ov
