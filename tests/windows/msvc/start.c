/* Runs model.pte of the current folder, which is crepe_portable.pte, as MSVC's linker would build
 * it: by pteron.lib. It has no C runtime, so nothing of C's library. */
#include <pteron/pteron.h>

__declspec(dllimport) void __stdcall ExitProcess(unsigned status);
__declspec(dllimport) void* __stdcall GetStdHandle(unsigned long which);
__declspec(dllimport) int __stdcall WriteFile(void* file, const void* data, unsigned long size,
                                              unsigned long* written, void* overlapped);

int _fltused = 1; /* What the compiler asks for where there are floats. */
static float x[8 * 1024];
static pteron_value out;

static void say(const char* text) {
  unsigned long size = 0, written = 0;
  while (text[size] != 0) ++size;
  WriteFile(GetStdHandle((unsigned long)-11), text, size, &written, 0);
}

void start(void) {
  pteron_program* program = 0;
  pteron_method* method = 0;
  pteron_error* error = 0;
  int64_t shape[2];
  pteron_value in;
  shape[0] = 8;
  shape[1] = 1024;
  for (int i = 0; i < 8 * 1024; ++i) x[i] = 0.5f;
  in = pteron_tensor_value(x, PTERON_FLOAT32, 2, shape);
  if (pteron_program_open("model.pte", 0, &program, &error) != PTERON_OK ||
      pteron_method_load(program, "forward", 0, &method, &error) != PTERON_OK ||
      pteron_method_run(method, &in, 1, &error) != PTERON_OK ||
      pteron_method_get_output(method, 0, &out, &error) != PTERON_OK) {
    say(pteron_error_message(error));
    ExitProcess(1);
  }
  if (out.as.tensor.rank != 2 || out.as.tensor.shape[0] != 8 || out.as.tensor.shape[1] != 360) {
    say("the output has another shape");
    ExitProcess(1);
  }
  pteron_method_free(method);
  pteron_program_free(program);
  say("ran by pteron ");
  say(pteron_version());
  ExitProcess(0);
}
