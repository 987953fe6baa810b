/* Loads pteron.dll by its full path while it runs, runs a program of README's shape, and lets the
 * library go.
 *
 * usage: load_dynamically PTERON.dll crepe_portable.pte */
#include <pteron/pteron.h>
#include <stdio.h>
#include <string.h>
#include <windows.h>

static float x[8 * 1024];

/* A function's address as a pointer to it: C has no cast for that. */
#define FIND(name)                                            \
  do {                                                        \
    const FARPROC address = GetProcAddress(library, #name);   \
    if (address == NULL) {                                    \
      fprintf(stderr, "there is no function %s\n", #name);    \
      return 1;                                               \
    }                                                         \
    memcpy(&functions.name, &address, sizeof functions.name); \
  } while (0)

int main(int argc, char** argv) {
  struct {
    uint32_t (*pteron_abi_version)(void);
    pteron_status (*pteron_program_open)(const char*, const pteron_program_options*,
                                         pteron_program**, pteron_error**);
    pteron_status (*pteron_method_load)(pteron_program*, const char*, const pteron_method_options*,
                                        pteron_method**, pteron_error**);
    pteron_status (*pteron_method_run)(pteron_method*, const pteron_value*, size_t, pteron_error**);
    pteron_status (*pteron_method_get_output)(pteron_method*, size_t, pteron_value*,
                                              pteron_error**);
    const char* (*pteron_error_message)(const pteron_error*);
    void (*pteron_error_free)(pteron_error*);
    void (*pteron_method_free)(pteron_method*);
    void (*pteron_program_free)(pteron_program*);
  } functions;
  if (argc != 3) return 2;
  const HMODULE library = LoadLibraryA(argv[1]);
  if (library == NULL) {
    fprintf(stderr, "%s is not loaded: error %lu\n", argv[1], GetLastError());
    return 1;
  }
  FIND(pteron_abi_version);
  FIND(pteron_program_open);
  FIND(pteron_method_load);
  FIND(pteron_method_run);
  FIND(pteron_method_get_output);
  FIND(pteron_error_message);
  FIND(pteron_error_free);
  FIND(pteron_method_free);
  FIND(pteron_program_free);
  if (functions.pteron_abi_version() < PTERON_ABI_VERSION) return 1;
  pteron_program* program = NULL;
  pteron_method* method = NULL;
  pteron_error* error = NULL;
  int64_t shape[2] = {8, 1024};
  pteron_value in = pteron_tensor_value(x, PTERON_FLOAT32, 2, shape), out;
  for (int i = 0; i < 8 * 1024; ++i) x[i] = 0.5f;
  if (functions.pteron_program_open(argv[2], NULL, &program, &error) != PTERON_OK ||
      functions.pteron_method_load(program, "forward", NULL, &method, &error) != PTERON_OK ||
      functions.pteron_method_run(method, &in, 1, &error) != PTERON_OK ||
      functions.pteron_method_get_output(method, 0, &out, &error) != PTERON_OK) {
    fprintf(stderr, "%s\n", functions.pteron_error_message(error));
    functions.pteron_error_free(error);
    return 1;
  }
  printf("the first number is %g\n", ((const float*)out.as.tensor.data)[0]);
  functions.pteron_method_free(method);
  functions.pteron_program_free(program);
  return FreeLibrary(library) ? 0 : 1;
}
