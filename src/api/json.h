// JSON that functions of pteron.h return; docs/json.md describes it.
#pragma once

#include <nlohmann/json.hpp>

#include "api/border.h"

namespace pteron {

// Fields in the order in which they are added.
using Json = nlohmann::ordered_json;

// For a char** of the interface. Bytes that are not UTF-8 (names in a hostile file) become U+FFFD.
inline char* json_string(const Json& json) {
  return copy_string(json.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace pteron
