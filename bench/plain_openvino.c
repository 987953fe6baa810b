/* The yardstick: a program that uses OpenVINO's C library and nothing else. It imports the blob of
 * a .pte, or reads and compiles a model's IR, and runs it, as pteron_peer.c does through Pteron.
 * usage: plain_openvino LIBOPENVINO_C MODEL.blob|MODEL.xml CALLS program|fast The model's inputs
 * are float32, or int64 (zeros). program: the precision properties that Pteron sets for `program`.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "peer.h"

typedef struct {
  int64_t rank;
  int64_t* dims;
} shape;

/* OpenVINO's functions, as its headers declare them; handles are opaque. */
static int (*core_create)(void**);
static int (*core_set_property)(const void*, const char*, ...);
static int (*core_import)(const void*, const char*, size_t, const char*, void**);
static int (*core_read)(const void*, const char*, const char*, void**);
static int (*core_compile)(const void*, const void*, const char*, size_t, void**, ...);
static int (*create_request)(const void*, void**);
static int (*infer)(void*);
static int (*input_count)(const void*, size_t*);
static int (*get_input)(const void*, size_t, void**);
static int (*port_shape)(const void*, shape*);
static int (*port_type)(const void*, int*);
static int (*tensor_create)(int, shape, void*, void**);
static int (*set_input)(void*, size_t, const void*);

enum { F32 = 4, I64 = 10 }; /* ov_element_type_e since 2025.1 */

static void check(int status, const char* what) {
  if (status == 0) return;
  fprintf(stderr, "plain_openvino: %s failed: %d\n", what, status);
  exit(1);
}

static void load_function(void* library, const char* name, void* function) {
  void* address = dlsym(library, name);
  if (!address) {
    fprintf(stderr, "plain_openvino: no %s\n", name);
    exit(1);
  }
  memcpy(function, &address, sizeof address);
}

static void load_functions(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  if (!library) {
    fprintf(stderr, "plain_openvino: %s\n", dlerror());
    exit(1);
  }
  load_function(library, "ov_core_create", &core_create);
  load_function(library, "ov_core_set_property", &core_set_property);
  load_function(library, "ov_core_import_model", &core_import);
  load_function(library, "ov_core_read_model", &core_read);
  load_function(library, "ov_core_compile_model", &core_compile);
  load_function(library, "ov_compiled_model_create_infer_request", &create_request);
  load_function(library, "ov_infer_request_infer", &infer);
  load_function(library, "ov_compiled_model_inputs_size", &input_count);
  load_function(library, "ov_compiled_model_input_by_index", &get_input);
  load_function(library, "ov_const_port_get_shape", &port_shape);
  load_function(library, "ov_port_get_element_type", &port_type);
  load_function(library, "ov_tensor_create_from_host_ptr", &tensor_create);
  load_function(library, "ov_infer_request_set_input_tensor_by_index", &set_input);
}

static void* compile_ir(const void* core, const char* path) {
  void *model = NULL, *compiled = NULL;
  check(core_read(core, path, NULL, &model), "ov_core_read_model");
  check(core_compile(core, model, "CPU", 0, &compiled), "ov_core_compile_model");
  return compiled;
}

static void* import_blob(const void* core, const char* path) {
  FILE* file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(1);
  }
  fseek(file, 0, SEEK_END);
  const size_t size = (size_t)ftell(file);
  rewind(file);
  char* blob = malloc(size);
  void* model = NULL;
  check(!blob || fread(blob, 1, size, file) != size, "reading the blob");
  fclose(file);
  check(core_import(core, blob, size, "CPU", &model), "ov_core_import_model");
  /* OpenVINO 2026 stamps its blobs, and reads from this memory as long as the model lives; 2025 has
   * a copy. */
  if (memcmp(blob, "RR_UPCVO", 8) != 0) free(blob);
  return model;
}

/* A request with inputs in memory of this program's. */
static void* make_request(const void* model) {
  void* request = NULL;
  size_t count = 0;
  check(create_request(model, &request), "creating a request");
  check(input_count(model, &count), "counting the inputs");
  for (size_t i = 0; i < count; i++) {
    void *port = NULL, *tensor = NULL;
    shape dims;
    check(get_input(model, i, &port), "finding an input");
    check(port_shape(port, &dims), "asking for a shape");
    int type = F32;
    check(port_type(port, &type), "asking for a type");
    size_t elements = 1;
    for (int64_t d = 0; d < dims.rank; d++) elements *= (size_t)dims.dims[d];
    void* data = peer_input(elements, type == I64);
    check(tensor_create(type, dims, data, &tensor), "wrapping an input");
    check(set_input(request, i, tensor), "setting an input");
  }
  return request;
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: plain_openvino LIBOPENVINO_C MODEL.blob CALLS program|fast\n");
    return 2;
  }
  const size_t calls = strtoul(argv[3], NULL, 10);
  double* times = malloc((calls + 1) * sizeof *times);
  if (!times || calls == 0) return 2;

  void* core = NULL;
  load_functions(argv[1]);
  check(core_create(&core), "ov_core_create");
  if (strcmp(argv[4], "program") == 0) {
    check(core_set_property(core, "CPU", "EXECUTION_MODE_HINT", "ACCURACY"), "a property");
    check(core_set_property(core, "CPU", "INFERENCE_PRECISION_HINT", "f32"), "a property");
  }
  const size_t length = strlen(argv[2]);
  const int is_ir = length > 4 && strcmp(argv[2] + length - 4, ".xml") == 0;
  const void* model = is_ir ? compile_ir(core, argv[2]) : import_blob(core, argv[2]);
  const double loaded = peer_now();
  void* request = make_request(model);
  check(infer(request), "the first run");
  const double first = peer_now();
  for (size_t i = 0; i < calls; i++) {
    const double start = peer_now();
    check(infer(request), "a run");
    times[i] = peer_now() - start;
  }
  const double peak = peer_memory_mb("VmHWM:");

  const double before = peer_memory_mb("VmRSS:");
  for (int i = 0; i < PEER_FURTHER; i++) {
    void* further = make_request(model);
    for (int k = 0; k < 3; k++) check(infer(further), "a further request's run");
  }
  peer_print(loaded, first, times, calls, peak, (peer_memory_mb("VmRSS:") - before) / PEER_FURTHER);
  return 0;
}
