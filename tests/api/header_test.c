/* pteron.h compiles alone, as C11 and, through header_test.cpp, as C++, without a warning; and this
 * program runs in a host without exceptions: it brings an operator in plain C and looks at errors.
 *
 * usage: header_test scale.pte (examples/custom_operator) */
#include <stdio.h>
#include <string.h>

#include "pteron/pteron.h"

static int failures = 0;

static void expect(int ok, const char* what) {
  if (ok) return;
  ++failures;
  fprintf(stderr, "failed: %s\n", what);
}

static int status_to_return = 0;

static pteron_status scale(void* context, pteron_call* call) {
  pteron_value x, factor, out;
  size_t i, count = 1;
  if (status_to_return != 0) {
    /* A status that is none is possible in C. */
    return (pteron_status)status_to_return;
  }
  (void)context;
  if (pteron_call_argument(call, 0, &x) != PTERON_OK ||
      pteron_call_argument(call, 1, &factor) != PTERON_OK ||
      pteron_call_resize(call, 2, x.as.tensor.shape, x.as.tensor.rank) != PTERON_OK ||
      pteron_call_argument(call, 2, &out) != PTERON_OK) {
    return pteron_call_fail(call, "arguments");
  }
  for (i = 0; i < (size_t)x.as.tensor.rank; i++) count *= (size_t)x.as.tensor.shape[i];
  for (i = 0; i < count; i++) {
    ((float*)out.as.tensor.data)[i] = ((const float*)x.as.tensor.data)[i] * (float)factor.as.real;
  }
  return PTERON_OK;
}

int main(int argc, char** argv) {
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  pteron_operator op = PTERON_INIT(pteron_operator);
  pteron_error* error = NULL;
  pteron_program* program = NULL;
  pteron_method* method = NULL;
  float x[3] = {1, 2, 3};
  int64_t shape[2] = {1, 3};
  pteron_value in = pteron_tensor_value(x, PTERON_FLOAT32, 2, shape), out;
  if (argc != 2) return 2;

  expect(pteron_program_open("no/such/file.pte", NULL, &program, &error) == PTERON_IO, "status");
  expect(error != NULL && pteron_error_status(error) == PTERON_IO, "the error's status");
  expect(strstr(pteron_error_message(error), "no/such/file.pte") != NULL, "message");
  pteron_error_free(error);
  error = NULL;

  op.name = "my_ops::scale.out";
  op.signature = "TD>T";
  op.run = scale;
  options.operators = &op;
  options.operator_count = 1;
  options.device = "none";
  expect(pteron_program_open(argv[1], &options, &program, &error) == PTERON_OK, "open");
  expect(pteron_method_load(program, NULL, NULL, &method, &error) == PTERON_OK, "load");
  if (failures > 0) return 1;
  expect(pteron_method_run(method, &in, 1, &error) == PTERON_OK, "run");
  expect(pteron_method_get_output(method, 0, &out, &error) == PTERON_OK, "output");
  expect(((const float*)out.as.tensor.data)[2] == 8.5f, "value");

  in.as.tensor.dtype = PTERON_FLOAT64;
  expect(pteron_method_run(method, &in, 1, &error) == PTERON_INVALID_ARGUMENT, "wrong dtype");
  pteron_error_free(error);
  error = NULL;
  in.as.tensor.dtype = PTERON_FLOAT32;
  status_to_return = 99;
  expect(pteron_method_run(method, &in, 1, &error) == PTERON_FAILED, "a status that is none");
  expect(strstr(pteron_error_message(error), "status 99") != NULL, "that status in the message");
  pteron_error_free(error);

  pteron_program_free(program);
  pteron_method_free(method);
  return failures == 0 ? 0 : 1;
}
