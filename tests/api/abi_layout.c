/* Prints the layout of every struct of pteron.h and the number of every enumerator, a line each;
 * check_library.py holds them against abi.txt. */
#include <stddef.h>
#include <stdio.h>

#include "pteron/pteron.h"

#define STRUCT(type) printf("%s %zu\n", #type, sizeof(type))
#define FIELD(type, field) \
  printf("%s.%s %zu %zu\n", #type, #field, offsetof(type, field), sizeof(((type*)0)->field))
#define NUMBER(name) printf("%s %d\n", #name, (int)(name))

int main(void) {
  NUMBER(PTERON_ABI_VERSION);
  NUMBER(PTERON_MAX_RANK);
  NUMBER(PTERON_OK);
  NUMBER(PTERON_INVALID_ARGUMENT);
  NUMBER(PTERON_IO);
  NUMBER(PTERON_MALFORMED);
  NUMBER(PTERON_MISSING);
  NUMBER(PTERON_UNSUPPORTED);
  NUMBER(PTERON_RESOURCE_LIMIT);
  NUMBER(PTERON_FAILED);
  NUMBER(PTERON_BUSY);
  NUMBER(PTERON_INTERNAL);
  NUMBER(PTERON_CANCELLED);
  NUMBER(PTERON_UINT8);
  NUMBER(PTERON_INT8);
  NUMBER(PTERON_INT16);
  NUMBER(PTERON_INT32);
  NUMBER(PTERON_INT64);
  NUMBER(PTERON_FLOAT16);
  NUMBER(PTERON_FLOAT32);
  NUMBER(PTERON_FLOAT64);
  NUMBER(PTERON_COMPLEX64);
  NUMBER(PTERON_COMPLEX128);
  NUMBER(PTERON_BOOL);
  NUMBER(PTERON_QINT8);
  NUMBER(PTERON_QUINT8);
  NUMBER(PTERON_QINT32);
  NUMBER(PTERON_BFLOAT16);
  NUMBER(PTERON_QUINT4X2);
  NUMBER(PTERON_QUINT2X4);
  NUMBER(PTERON_BITS16);
  NUMBER(PTERON_FLOAT8_E5M2);
  NUMBER(PTERON_FLOAT8_E4M3FN);
  NUMBER(PTERON_FLOAT8_E5M2FNUZ);
  NUMBER(PTERON_FLOAT8_E4M3FNUZ);
  NUMBER(PTERON_UINT16);
  NUMBER(PTERON_UINT32);
  NUMBER(PTERON_UINT64);
  NUMBER(PTERON_KIND_NONE);
  NUMBER(PTERON_KIND_TENSOR);
  NUMBER(PTERON_KIND_INT);
  NUMBER(PTERON_KIND_DOUBLE);
  NUMBER(PTERON_KIND_BOOL);
  NUMBER(PTERON_KIND_STRING);
  NUMBER(PTERON_KIND_INT_LIST);
  NUMBER(PTERON_KIND_DOUBLE_LIST);
  NUMBER(PTERON_KIND_BOOL_LIST);
  NUMBER(PTERON_KIND_TENSOR_LIST);
  NUMBER(PTERON_PRECISION_PROGRAM);
  NUMBER(PTERON_PRECISION_FAST);
  NUMBER(PTERON_PRECISION_F32);
  NUMBER(PTERON_PRECISION_F16);
  NUMBER(PTERON_PRECISION_BF16);
  NUMBER(PTERON_ACCELERATE_AUTO);
  NUMBER(PTERON_ACCELERATE_ON);
  NUMBER(PTERON_ACCELERATE_OFF);
  NUMBER(PTERON_HINT_LATENCY);
  NUMBER(PTERON_HINT_THROUGHPUT);

  STRUCT(pteron_tensor);
  FIELD(pteron_tensor, data);
  FIELD(pteron_tensor, shape);
  FIELD(pteron_tensor, strides);
  FIELD(pteron_tensor, rank);
  FIELD(pteron_tensor, dtype);

  STRUCT(pteron_value);
  FIELD(pteron_value, kind);
  FIELD(pteron_value, reserved);
  FIELD(pteron_value, as);
  FIELD(pteron_value, as.tensor);
  FIELD(pteron_value, as.integer);
  FIELD(pteron_value, as.real);
  FIELD(pteron_value, as.boolean);
  FIELD(pteron_value, as.string);
  FIELD(pteron_value, as.list.items);
  FIELD(pteron_value, as.list.count);

  STRUCT(pteron_allocator);
  FIELD(pteron_allocator, struct_size);
  FIELD(pteron_allocator, context);
  FIELD(pteron_allocator, allocate);
  FIELD(pteron_allocator, deallocate);

  STRUCT(pteron_threads);
  FIELD(pteron_threads, struct_size);
  FIELD(pteron_threads, context);
  FIELD(pteron_threads, parallel_for);

  STRUCT(pteron_operator);
  FIELD(pteron_operator, struct_size);
  FIELD(pteron_operator, name);
  FIELD(pteron_operator, signature);
  FIELD(pteron_operator, context);
  FIELD(pteron_operator, run);

  STRUCT(pteron_delegate);
  FIELD(pteron_delegate, struct_size);
  FIELD(pteron_delegate, id);
  FIELD(pteron_delegate, context);
  FIELD(pteron_delegate, init);
  FIELD(pteron_delegate, run);
  FIELD(pteron_delegate, destroy);

  STRUCT(pteron_program_options);
  FIELD(pteron_program_options, struct_size);
  FIELD(pteron_program_options, device);
  FIELD(pteron_program_options, openvino);
  FIELD(pteron_program_options, cache_dir);
  FIELD(pteron_program_options, config_keys);
  FIELD(pteron_program_options, config_values);
  FIELD(pteron_program_options, config_count);
  FIELD(pteron_program_options, weights);
  FIELD(pteron_program_options, weights_count);
  FIELD(pteron_program_options, precision);
  FIELD(pteron_program_options, hint);
  FIELD(pteron_program_options, threads);
  FIELD(pteron_program_options, copy_file);
  FIELD(pteron_program_options, profile);
  FIELD(pteron_program_options, accelerate);
  FIELD(pteron_program_options, memory_limit);
  FIELD(pteron_program_options, instruction_limit);
  FIELD(pteron_program_options, allocator);
  FIELD(pteron_program_options, thread_pool);
  FIELD(pteron_program_options, operators);
  FIELD(pteron_program_options, operator_count);
  FIELD(pteron_program_options, delegates);
  FIELD(pteron_program_options, delegate_count);
  FIELD(pteron_program_options, time_limit);

  STRUCT(pteron_method_options);
  FIELD(pteron_method_options, struct_size);
  FIELD(pteron_method_options, shares_state_with);
  FIELD(pteron_method_options, seed);

  STRUCT(pteron_spec);
  FIELD(pteron_spec, struct_size);
  FIELD(pteron_spec, name);
  FIELD(pteron_spec, shape);
  FIELD(pteron_spec, dim_order);
  FIELD(pteron_spec, kind);
  FIELD(pteron_spec, dtype);
  FIELD(pteron_spec, rank);
  FIELD(pteron_spec, dynamic);
  return 0;
}
