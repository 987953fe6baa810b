// The commands, one file each. They print results to stdout, and throw UsageError or LibraryError.
#pragma once

#include "options.h"

namespace tools {

void run_command(const Options& options);
void info_command(const Options& options);
void bench_command(const Options& options);
void profile_command(const Options& options);
void devices_command(const Options& options);
// Whether a model could run on OpenVINO.
bool doctor_command(const Options& options);

}  // namespace tools
