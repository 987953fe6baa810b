/* Ends with a run perhaps still going on; unload_test.cpp says what for. Frees nothing, or, where
 * "late" is said, frees after every handler that was registered later, OpenVINO's among them.
 *
 * usage: exit_host PROGRAM.pte [late|never [OPENVINO]] */
#include <stdlib.h>
#include <string.h>

#include "pteron/pteron.h"

static pteron_status zero(void* context, pteron_call* call) {
  (void)context;
  (void)call;
  return PTERON_OK;
}

/* Static, so that a leak checker sees that they are still held. */
static pteron_program* program = NULL;
static pteron_method* method = NULL;

static void free_all(void) {
  pteron_method_free(method);
  pteron_program_free(program);
}

int main(int argc, char** argv) {
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  pteron_operator op = PTERON_INIT(pteron_operator);
  pteron_spec spec = PTERON_INIT(pteron_spec);
  static float zeros[8 * 1024];
  pteron_value in;
  if (argc < 2) return 2;
  if (argc > 2 && strcmp(argv[2], "late") == 0 && atexit(free_all) != 0) return 2;
  op.name = "my_ops::scale.out";
  op.signature = "TD>T";
  op.run = zero;
  options.operators = &op;
  options.operator_count = 1;
  options.openvino = argc > 3 ? argv[3] : NULL;
  if (pteron_program_open(argv[1], &options, &program, NULL) != PTERON_OK) return 3;
  if (pteron_method_load(program, NULL, NULL, &method, NULL) != PTERON_OK) return 4;
  if (pteron_method_input_spec(method, 0, &spec, NULL) != PTERON_OK) return 5;
  in = pteron_tensor_value(zeros, PTERON_FLOAT32, spec.rank, spec.shape);
  if (pteron_method_bind_input(method, 0, &in, NULL) != PTERON_OK) return 6;
  if (pteron_method_execute(method, NULL) != PTERON_OK) return 7;
  if (pteron_method_start(method, NULL) != PTERON_OK) return 8;
  exit(0);
}
