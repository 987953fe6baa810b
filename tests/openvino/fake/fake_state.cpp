#include "fake_state.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

namespace fake {
namespace {

constexpr size_t kMostLog = 1 << 20;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::string rest_of(std::istringstream& words) {
  std::string rest;
  std::getline(words >> std::ws, rest);
  return rest;
}

bool has(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

Device make_device(const std::string& name, const std::vector<std::string>& capabilities,
                   const std::string& full_name) {
  Device device;
  device.capabilities = capabilities;
  std::string listed;
  for (const std::string& capability : capabilities) {
    listed += (listed.empty() ? "" : " ") + capability;
  }
  // The default precision is the lowest that the device has, as on a real CPU with AMX.
  std::vector<std::string> precisions;
  if (has(capabilities, "BF16")) precisions.emplace_back("bf16");
  if (has(capabilities, "FP16")) precisions.emplace_back("f16");
  if (has(capabilities, "FP32")) precisions.emplace_back("f32");
  precisions.emplace_back("dynamic");
  auto& p = device.properties;
  p["FULL_DEVICE_NAME"] = {{full_name}, false};
  p["OPTIMIZATION_CAPABILITIES"] = {{listed}, false};
  p["AVAILABLE_DEVICES"] = {{""}, false};
  p["EXECUTION_DEVICES"] = {{name}, false};
  p["OPTIMAL_NUMBER_OF_INFER_REQUESTS"] = {{"1"}, false};
  p["INFERENCE_PRECISION_HINT"] = {precisions};
  p["EXECUTION_MODE_HINT"] = {{"PERFORMANCE", "ACCURACY"}};
  p["PERFORMANCE_HINT"] = {{"LATENCY", "THROUGHPUT", "CUMULATIVE_THROUGHPUT"}};
  p["PERF_COUNT"] = {{"NO", "YES"}};
  p["CACHE_DIR"] = {{"", "*"}};
  p["NUM_STREAMS"] = {{"1", "#", "AUTO"}};
  if (name.rfind("CPU", 0) == 0) {
    p["INFERENCE_NUM_THREADS"] = {{"0", "#"}};
    p["ENABLE_CPU_PINNING"] = {{"YES", "NO"}};
  }
  if (name.rfind("GPU", 0) == 0) p["GPU_DEVICE_TOTAL_MEM_SIZE"] = {{"8589934592"}, false};
  return device;
}

}  // namespace

State& State::get() {
  static State state;
  return state;
}

State::State() {
  set_defaults();
  if (const char* path = std::getenv("FAKE_OPENVINO_SCRIPT")) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::string problem = run_script(file ? text : std::string());
    if (!file) {
      version_ = "FAKE_OPENVINO_SCRIPT cannot be read";
    } else if (!problem.empty()) {
      version_ = "FAKE_OPENVINO_SCRIPT: " + problem;
    }
  }
}

void State::set_defaults() {
#ifdef FAKE_VERSION
  version_ = FAKE_VERSION;
#else
  version_ = "2025.4.1-0-fake";
#endif
  devices_.clear();
  devices_["CPU"] = make_device("CPU", {"BF16", "FP32", "INT8", "EXPORT_IMPORT"}, "Fake CPU");
  failures_.clear();
  calls_.clear();
  alive_.clear();
  bad_frees_ = 0;
  overlaps_ = 0;
  log_.clear();
  last_error_.clear();
  borrows_blobs_ = false;
  delay_ms_ = 0;
}

void State::reset() {
  const std::lock_guard lock(mutex_);
  set_defaults();
}

std::string State::run_script(const std::string& text) {
  const std::lock_guard lock(mutex_);
  for (const std::string& line : split(text, '\n')) {
    std::string problem = run_line(line);
    if (!problem.empty()) return problem + ": " + line;
  }
  return "";
}

std::string State::run_line(const std::string& line) {
  std::istringstream words(line);
  std::string command;
  if (!(words >> command) || command.front() == '#') return "";
  std::string name;
  if (command == "version") {
    version_ = rest_of(words);
  } else if (command == "device") {
    std::string capabilities;
    if (!(words >> name >> capabilities)) return "device wants NAME CAPABILITIES FULL NAME";
    devices_[name] = make_device(name, split(capabilities, ','), rest_of(words));
  } else if (command == "broken") {
    if (!(words >> name)) return "broken wants NAME TEXT";
    devices_[name].broken = rest_of(words);
  } else if (command == "remove") {
    words >> name;
    if (devices_.erase(name) == 0) return "no such device";
  } else if (command == "fail") {
    int status = 0;
    long long skip = 0;
    long long times = 0;
    if (!(words >> name >> status >> skip >> times)) return "fail wants FUNCTION STATUS SKIP TIMES";
    failures_[name].push_back(
        {static_cast<ov_status_e>(status), skip, times == 0 ? -1 : times, rest_of(words)});
  } else if (command == "refuse") {
    words >> name;
    if (devices_.count(name) == 0) return "no such device";
    devices_[name].refusal = rest_of(words);
  } else if (command == "property") {
    std::string key;
    words >> name >> key;
    if (devices_.count(name) == 0) return "no such device";
    devices_[name].properties[key] = {split(rest_of(words), '|')};
    if (devices_[name].properties[key].allowed.empty()) return "property wants values";
  } else if (command == "readonly") {
    std::string key;
    words >> name >> key;
    if (devices_.count(name) == 0) return "no such device";
    devices_[name].properties[key] = {{rest_of(words)}, false};
  } else if (command == "without") {
    std::string key;
    words >> name >> key;
    if (devices_.count(name) == 0 || devices_[name].properties.erase(key) == 0)
      return "no such device or property";
  } else if (command == "borrow-blobs") {
    borrows_blobs_ = true;
  } else if (command == "delay") {
    if (!(words >> delay_ms_)) return "delay wants milliseconds";
  } else {
    return "unknown command";
  }
  return "";
}

std::optional<ov_status_e> State::enter(const char* function) {
  const std::lock_guard lock(mutex_);
  ++calls_[function];
  for (Failure& failure : failures_[function]) {
    if (failure.skip > 0) {
      --failure.skip;
      continue;
    }
    if (failure.times == 0) continue;
    if (failure.times > 0) --failure.times;
    last_error_ = failure.message;
    return failure.status;
  }
  return std::nullopt;
}

ov_status_e State::fail(ov_status_e status, const std::string& message) {
  const std::lock_guard lock(mutex_);
  last_error_ = message;
  return status;
}

void State::born(const char* kind, const void* object) {
  const std::lock_guard lock(mutex_);
  alive_.emplace(kind, object);
}

bool State::died(const char* kind, const void* object) {
  if (object == nullptr) return false;
  const std::lock_guard lock(mutex_);
  const bool was_alive = alive_.erase({kind, object}) > 0;
  if (!was_alive) ++bad_frees_;
  return was_alive;
}

bool State::is_alive(const char* kind, const void* object) {
  const std::lock_guard lock(mutex_);
  return alive_.count({kind, object}) > 0;
}

void State::log(const std::string& line) {
  const std::lock_guard lock(mutex_);
  // A fuzzer runs for hours.
  if (log_.size() < kMostLog) log_ += line + "\n";
}

void State::count_overlap() {
  const std::lock_guard lock(mutex_);
  ++overlaps_;
}

long long State::count(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (what == "live") return static_cast<long long>(alive_.size());
  if (what == "bad_frees") return bad_frees_;
  if (what == "overlaps") return overlaps_;
  constexpr const char* kLive = "live ";
  if (what.rfind(kLive, 0) == 0) {
    const std::string kind = what.substr(std::char_traits<char>::length(kLive));
    return std::count_if(alive_.begin(), alive_.end(),
                         [&kind](const auto& object) { return object.first == kind; });
  }
  if (what.rfind("ov_", 0) == 0) return calls_[what];
  return -1;
}

std::string State::log_text() {
  const std::lock_guard lock(mutex_);
  return log_;
}

std::optional<Device> State::device(const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (const char* meta : {"AUTO", "MULTI", "BATCH", "HETERO"}) {
    if (name.substr(0, name.find(':')) != meta) continue;
    Device device = make_device(meta, {}, meta);
    device.properties.erase("INFERENCE_PRECISION_HINT");
    device.refusal = meta == std::string("HETERO") ? "Failed to read Hetero device xml header"
                                                   : "Not Implemented";
    return device;
  }
  auto found = devices_.find(name);
  // GPU.0 is the GPU.
  if (found == devices_.end() && name.size() > 2 && name.substr(name.size() - 2) == ".0") {
    found = devices_.find(name.substr(0, name.size() - 2));
  }
  return found == devices_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> State::device_names() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, device] : devices_) names.push_back(name);
  return names;
}

std::string State::version() {
  const std::lock_guard lock(mutex_);
  return version_;
}

std::string State::last_error() {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

bool State::borrows_blobs() {
  const std::lock_guard lock(mutex_);
  return borrows_blobs_;
}

int State::delay_ms() {
  const std::lock_guard lock(mutex_);
  return delay_ms_;
}

}  // namespace fake
