// Tests on a real OpenVINO are skipped where there is none.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

// The folder of that OpenVINO, kept for the whole test: getenv's own text ends when a test sets a
// variable.
#define NEEDS(version, place)                                                               \
  const char* const place##_variable = std::getenv("PTERON_TEST_OPENVINO_" version);        \
  if (place##_variable == nullptr) {                                                        \
    GTEST_SKIP() << "PTERON_TEST_OPENVINO_" version " does not say where that OpenVINO is"; \
  }                                                                                         \
  const std::string place##_text = place##_variable;                                        \
  const char* const place = place##_text.c_str()
