// The fake's memory: what scripts said, what is alive, what happened. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "openvino/types.h"

namespace fake {

using pteron::ov::ov_status_e;

struct Property {
  std::vector<std::string> allowed;  // The default first; "*" allows anything.
  bool writable = true;
};

struct Device {
  std::vector<std::string> capabilities;
  std::map<std::string, Property> properties;
  std::string refusal;  // Of blobs.
  std::string broken;   // Why its plugin does not load.
};

class State {
 public:
  static State& get();

  void reset();
  std::string run_script(const std::string& text);  // Empty, or what is wrong.

  // Called first in each function. A failure if the script wants one now.
  std::optional<ov_status_e> enter(const char* function);

  ov_status_e fail(ov_status_e status, const std::string& message);

  void born(const char* kind, const void* object);
  // Whether it was alive. Null is never alive, and no bad free.
  bool died(const char* kind, const void* object);
  bool is_alive(const char* kind, const void* object);

  void log(const std::string& line);
  void count_overlap();
  long long count(const std::string& what);
  std::string log_text();

  std::optional<Device> device(const std::string& name);
  std::vector<std::string> device_names();
  std::string version();
  std::string last_error();
  bool borrows_blobs();
  int delay_ms();

 private:
  State();
  void set_defaults();
  std::string run_line(const std::string& line);

  struct Failure {
    ov_status_e status;
    long long skip;
    long long times;  // -1: for ever.
    std::string message;
  };

  std::mutex mutex_;
  std::string version_;
  std::map<std::string, Device> devices_;
  std::map<std::string, std::vector<Failure>> failures_;
  std::map<std::string, long long> calls_;
  std::set<std::pair<std::string, const void*>> alive_;
  long long bad_frees_ = 0;
  long long overlaps_ = 0;
  std::string log_;
  std::string last_error_;
  bool borrows_blobs_ = false;
  int delay_ms_ = 0;
};

}  // namespace fake
