// Compiles only if our declarations of OpenVINO's C interface (src/openvino/types.h, functions.inc)
// are those of the OpenVINO headers in the include path: each function's type, each struct's
// layout, each number.
#include <cstddef>
#include <type_traits>

#include "openvino/c/openvino.h"
#include "openvino/types.h"

// Inside ov, so that a name means ours and not the header's.
namespace pteron::ov::functions {
#define OV_REQUIRED(type, name, arguments) using name##_type = type arguments;
#define OV_OPTIONAL OV_REQUIRED
#include "openvino/functions.inc"
#undef OV_OPTIONAL
#undef OV_REQUIRED
}  // namespace pteron::ov::functions

namespace {

namespace ours = pteron::ov;

// Our type for the same thing as OpenVINO's type T.
template <typename T>
struct OursFor {
  using type = T;
};
#define SAME_THING(name)     \
  template <>                \
  struct OursFor<::name> {   \
    using type = ours::name; \
  };
SAME_THING(ov_status_e)
SAME_THING(ov_element_type_e)
SAME_THING(ov_core_t)
SAME_THING(ov_model_t)
SAME_THING(ov_compiled_model_t)
SAME_THING(ov_infer_request_t)
SAME_THING(ov_tensor_t)
SAME_THING(ov_output_const_port_t)
SAME_THING(ov_version_t)
SAME_THING(ov_available_devices_t)
SAME_THING(ov_shape_t)
SAME_THING(ov_dimension_t)
SAME_THING(ov_partial_shape_t)
SAME_THING(ov_profiling_info_t)
SAME_THING(ov_profiling_info_list_t)
#undef SAME_THING

template <typename T>
struct OursFor<const T> {
  using type = const typename OursFor<T>::type;
};
template <typename T>
struct OursFor<T*> {
  using type = typename OursFor<T>::type*;
};
template <typename R, typename... A>
struct OursFor<R(A...)> {
  using type = typename OursFor<R>::type(typename OursFor<A>::type...);
};
template <typename R, typename... A>
struct OursFor<R(A..., ...)> {
  using type = typename OursFor<R>::type(typename OursFor<A>::type..., ...);
};

#define OV_REQUIRED(result, name, arguments)                                                   \
  static_assert(std::is_same_v<OursFor<decltype(::name)>::type, ours::functions::name##_type>, \
                #name " has another type");
#define OV_OPTIONAL OV_REQUIRED
#include "openvino/functions.inc"
#undef OV_OPTIONAL
#undef OV_REQUIRED

#define SAME_FIELD(type, our_field, field)                                   \
  static_assert(offsetof(ours::type, our_field) == offsetof(::type, field)); \
  static_assert(sizeof(ours::type::our_field) == sizeof(::type::field));     \
  static_assert(sizeof(ours::type) == sizeof(::type));
SAME_FIELD(ov_version_t, build_number, buildNumber)
SAME_FIELD(ov_version_t, description, description)
SAME_FIELD(ov_available_devices_t, devices, devices)
SAME_FIELD(ov_available_devices_t, size, size)
SAME_FIELD(ov_shape_t, rank, rank)
SAME_FIELD(ov_shape_t, dims, dims)
SAME_FIELD(ov_dimension_t, min, min)
SAME_FIELD(ov_dimension_t, max, max)
SAME_FIELD(ov_partial_shape_t, rank, rank)
SAME_FIELD(ov_partial_shape_t, dims, dims)
SAME_FIELD(ov_profiling_info_t, status, status)
SAME_FIELD(ov_profiling_info_t, real_time, real_time)
SAME_FIELD(ov_profiling_info_t, cpu_time, cpu_time)
SAME_FIELD(ov_profiling_info_t, node_name, node_name)
SAME_FIELD(ov_profiling_info_t, exec_type, exec_type)
SAME_FIELD(ov_profiling_info_t, node_type, node_type)
SAME_FIELD(ov_profiling_info_list_t, profiling_infos, profiling_infos)
SAME_FIELD(ov_profiling_info_list_t, size, size)

#define SAME_NUMBER(our_name, name) \
  static_assert(static_cast<long long>(ours::our_name) == static_cast<long long>(::name));
SAME_NUMBER(ov_status_e::Ok, OK)
SAME_NUMBER(ov_status_e::GeneralError, GENERAL_ERROR)
SAME_NUMBER(ov_status_e::NotImplemented, NOT_IMPLEMENTED)
SAME_NUMBER(ov_status_e::NetworkNotLoaded, NETWORK_NOT_LOADED)
SAME_NUMBER(ov_status_e::ParameterMismatch, PARAMETER_MISMATCH)
SAME_NUMBER(ov_status_e::NotFound, NOT_FOUND)
SAME_NUMBER(ov_status_e::OutOfBounds, OUT_OF_BOUNDS)
SAME_NUMBER(ov_status_e::Unexpected, UNEXPECTED)
SAME_NUMBER(ov_status_e::RequestBusy, REQUEST_BUSY)
SAME_NUMBER(ov_status_e::ResultNotReady, RESULT_NOT_READY)
SAME_NUMBER(ov_status_e::NotAllocated, NOT_ALLOCATED)
SAME_NUMBER(ov_status_e::InferNotStarted, INFER_NOT_STARTED)
SAME_NUMBER(ov_status_e::NetworkNotRead, NETWORK_NOT_READ)
SAME_NUMBER(ov_status_e::InferCancelled, INFER_CANCELLED)
SAME_NUMBER(ov_status_e::InvalidCParam, INVALID_C_PARAM)
SAME_NUMBER(ov_status_e::UnknownCError, UNKNOWN_C_ERROR)
SAME_NUMBER(ov_status_e::NotImplementedCMethod, NOT_IMPLEMENT_C_METHOD)
SAME_NUMBER(ov_status_e::UnknownException, UNKNOW_EXCEPTION)

SAME_NUMBER(ov_element_type_e::Dynamic, DYNAMIC)
SAME_NUMBER(ov_element_type_e::Boolean, OV_BOOLEAN)
SAME_NUMBER(ov_element_type_e::BF16, BF16)
SAME_NUMBER(ov_element_type_e::F16, F16)
SAME_NUMBER(ov_element_type_e::F32, F32)
SAME_NUMBER(ov_element_type_e::F64, F64)
SAME_NUMBER(ov_element_type_e::I4, I4)
SAME_NUMBER(ov_element_type_e::I8, I8)
SAME_NUMBER(ov_element_type_e::I16, I16)
SAME_NUMBER(ov_element_type_e::I32, I32)
SAME_NUMBER(ov_element_type_e::I64, I64)
SAME_NUMBER(ov_element_type_e::U1, U1)
SAME_NUMBER(ov_element_type_e::U2, U2)
SAME_NUMBER(ov_element_type_e::U3, U3)
SAME_NUMBER(ov_element_type_e::U4, U4)
SAME_NUMBER(ov_element_type_e::U6, U6)
SAME_NUMBER(ov_element_type_e::U8, U8)
SAME_NUMBER(ov_element_type_e::U16, U16)
SAME_NUMBER(ov_element_type_e::U32, U32)
SAME_NUMBER(ov_element_type_e::U64, U64)
SAME_NUMBER(ov_element_type_e::NF4, NF4)
SAME_NUMBER(ov_element_type_e::F8E4M3, F8E4M3)
SAME_NUMBER(ov_element_type_e::F8E5M2, F8E5M3)  // Its header's misprint.
SAME_NUMBER(ov_element_type_e::String, STRING)
SAME_NUMBER(ov_element_type_e::F4E2M1, F4E2M1)
SAME_NUMBER(ov_element_type_e::F8E8M0, F8E8M0)

SAME_NUMBER(ov_profiling_status_e::NotRun, ov_profiling_info_t::NOT_RUN)
SAME_NUMBER(ov_profiling_status_e::OptimizedOut, ov_profiling_info_t::OPTIMIZED_OUT)
SAME_NUMBER(ov_profiling_status_e::Executed, ov_profiling_info_t::EXECUTED)

}  // namespace
