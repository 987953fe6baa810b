// Preloaded into Wine's processes: asks Linux for the use of AMX tiles, which Wine never does.
// Without it OpenVINO's AMX kernels end in an illegal instruction. On a CPU without AMX the call
// fails, which does not matter.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

enum {
  kRequestPermission = 0x1023,
  kTileData = 18
};  // From Linux's asm/prctl.h and its list of CPU states.

__attribute__((constructor)) static void ask(void) {
  syscall(SYS_arch_prctl, kRequestPermission, kTileData);
}
