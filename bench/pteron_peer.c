/* What plain_openvino.c does, through Pteron's C interface, on the .pte that holds the same blob,
 * or the same model undelegated. usage: pteron_peer LIBOPENVINO_C MODEL.pte CALLS program|fast
 * [kernels] With `kernels`, nothing is compiled for OpenVINO. */
#define _GNU_SOURCE
#include "peer.h"
#include "pteron/pteron.h"

static void check(pteron_status status, pteron_error* error) {
  if (status == PTERON_OK) return;
  fprintf(stderr, "pteron_peer: %s\n", pteron_error_message(error));
  exit(1);
}

/* A method with its inputs bound to memory of this program's. */
static pteron_method* load_method(pteron_program* program) {
  pteron_error* error = NULL;
  pteron_method* method = NULL;
  check(pteron_method_load(program, NULL, NULL, &method, &error), error);
  for (size_t i = 0; i < pteron_method_input_count(method); i++) {
    pteron_spec spec = PTERON_INIT(pteron_spec);
    check(pteron_method_input_spec(method, i, &spec, &error), error);
    size_t elements = 1;
    for (int32_t d = 0; d < spec.rank; d++) elements *= (size_t)spec.shape[d];
    void* data = peer_input(elements, spec.dtype == PTERON_INT64);
    const pteron_value value = pteron_tensor_value(data, spec.dtype, spec.rank, spec.shape);
    check(pteron_method_bind_input(method, i, &value, &error), error);
  }
  return method;
}

int main(int argc, char** argv) {
  if (argc < 5 || argc > 6) {
    fprintf(stderr, "usage: pteron_peer LIBOPENVINO_C MODEL.pte CALLS program|fast [kernels]\n");
    return 2;
  }
  const size_t calls = strtoul(argv[3], NULL, 10);
  double* times = malloc((calls + 1) * sizeof *times);
  if (!times || calls == 0) return 2;

  pteron_error* error = NULL;
  pteron_program* program = NULL;
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.openvino = argv[1];
  if (argc == 6) options.accelerate = PTERON_ACCELERATE_OFF;
  options.precision =
      strcmp(argv[4], "fast") == 0 ? PTERON_PRECISION_FAST : PTERON_PRECISION_PROGRAM;
  check(pteron_program_open(argv[2], &options, &program, &error), error);
  pteron_method* method = load_method(program);
  const double loaded = peer_now();
  check(pteron_method_execute(method, &error), error);
  const double first = peer_now();
  for (size_t i = 0; i < calls; i++) {
    const double start = peer_now();
    check(pteron_method_execute(method, &error), error);
    times[i] = peer_now() - start;
  }
  const double peak = peer_memory_mb("VmHWM:");

  const double before = peer_memory_mb("VmRSS:");
  for (int i = 0; i < PEER_FURTHER; i++) {
    pteron_method* further = load_method(program);
    for (int k = 0; k < 3; k++) check(pteron_method_execute(further, &error), error);
  }
  peer_print(loaded, first, times, calls, peak, (peer_memory_mb("VmRSS:") - before) / PEER_FURTHER);
  return 0;
}
