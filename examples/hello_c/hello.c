/* Runs a program's method on zeros and prints what comes out.
 *
 * usage: hello_c MODEL.pte [METHOD] [--openvino PATH] */
#include <pteron/pteron.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(pteron_error* error) {
  fprintf(stderr, "hello_c: %s\n", pteron_error_message(error));
  pteron_error_free(error);
  return 1;
}

static size_t count(const int64_t* shape, int32_t rank) {
  size_t elements = 1;
  for (int32_t i = 0; i < rank; i++) elements *= (size_t)shape[i];
  return elements;
}

static void print(size_t index, const pteron_value* value) {
  const pteron_tensor* tensor = &value->as.tensor;
  if (value->kind != PTERON_KIND_TENSOR) return;
  printf("output %zu: %s [", index, pteron_dtype_name((pteron_dtype)tensor->dtype));
  for (int32_t i = 0; i < tensor->rank; i++) {
    printf("%s%lld", i > 0 ? ", " : "", (long long)tensor->shape[i]);
  }
  printf("]");
  if (tensor->dtype == PTERON_FLOAT32 && count(tensor->shape, tensor->rank) > 0) {
    printf(" %g ...", (double)*(const float*)tensor->data);
  }
  printf("\n");
}

/* Runs a loaded method; inputs are zeros, each of its largest shape. */
static int run(pteron_method* method) {
  pteron_error* error = NULL;
  const size_t inputs = pteron_method_input_count(method);
  int status = 0;
  pteron_value* values = calloc(inputs + 1, sizeof *values);
  void** memory = calloc(inputs + 1, sizeof *memory);
  if (values == NULL || memory == NULL) status = 1;
  for (size_t i = 0; status == 0 && i < inputs; i++) {
    pteron_spec spec = PTERON_INIT(pteron_spec);
    if (pteron_method_input_spec(method, i, &spec, &error) != PTERON_OK) {
      status = fail(error);
    } else if (spec.kind == PTERON_KIND_TENSOR) {
      memory[i] =
          calloc(count(spec.shape, spec.rank) + 1, pteron_dtype_size((pteron_dtype)spec.dtype));
      values[i] = pteron_tensor_value(memory[i], (pteron_dtype)spec.dtype, spec.rank, spec.shape);
    } else {
      values[i].kind = spec.kind; /* Zero, false, none. */
    }
  }
  if (status == 0 && pteron_method_run(method, values, inputs, &error) != PTERON_OK) {
    status = fail(error);
  }
  for (size_t i = 0; status == 0 && i < pteron_method_output_count(method); i++) {
    pteron_value output;
    if (pteron_method_get_output(method, i, &output, &error) != PTERON_OK) {
      status = fail(error);
    } else {
      print(i, &output);
    }
  }
  for (size_t i = 0; memory != NULL && i < inputs; i++) free(memory[i]);
  free(memory);
  free(values);
  return status;
}

int main(int argc, char** argv) {
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  const char* path = NULL;
  const char* name = NULL;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--openvino") == 0 && i + 1 < argc) {
      options.openvino = argv[++i];
    } else if (path == NULL) {
      path = argv[i];
    } else {
      name = argv[i];
    }
  }
  if (path == NULL) {
    fprintf(stderr, "usage: hello_c MODEL.pte [METHOD] [--openvino PATH]\n");
    return 2;
  }
  pteron_error* error = NULL;
  pteron_program* program = NULL;
  pteron_method* method = NULL;
  if (pteron_program_open(path, &options, &program, &error) != PTERON_OK) return fail(error);
  int status = 0;
  if (pteron_method_load(program, name, NULL, &method, &error) != PTERON_OK) status = fail(error);
  if (status == 0) status = run(method);
  pteron_method_free(method);
  pteron_program_free(program);
  return status;
}
