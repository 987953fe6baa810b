// python.exe of the Windows Python that tests use: hands its arguments to the DLL's own main.
#include <wchar.h>

__declspec(dllimport) int Py_Main(int argc, wchar_t** argv);

int wmain(int argc, wchar_t** argv) { return Py_Main(argc, argv); }
