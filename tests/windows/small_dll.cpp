// A DLL of one function, NAME, which may need one of another DLL, NEEDS.
#ifdef SMALL_PLANTED
#include <windows.h>

// Leaves a trace: what is planted runs when it is loaded.
BOOL WINAPI DllMain(HINSTANCE, DWORD reason, LPVOID) {
  if (reason == DLL_PROCESS_ATTACH) SetEnvironmentVariableW(L"PTERON_TEST_PLANTED", L"ran");
  return TRUE;
}
#endif

extern "C" {
#ifdef NEEDS
__declspec(dllimport) int NEEDS();
#endif
__declspec(dllexport) int NAME();

int NAME() {
#ifdef NEEDS
  return NEEDS() + 1;
#else
  return 1;
#endif
}
}
