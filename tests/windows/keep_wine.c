// Keeps Wine and its services going for a quarter of an hour: wine_run says what for.
#include <windows.h>

int main(void) {
  Sleep(15 * 60 * 1000);
  return 0;
}
