// Runs every golden program and every model through the C interface and holds the results against
// eager PyTorch's: shapes and dtypes exactly, values within the bounds below.
//
// exceptions.txt names what cannot agree and why; an exception that has gone away fails too.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "npz.h"
#include "pteron/pteron.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tools::Array;
using tools::element_value;
using tools::NamedArrays;

// Why a case does not simply agree: `load` fails with this text, or values differ by at most
// `error`.
struct Exception {
  std::string text;
  double error = 0;
  float state = 0;  // The initial value of its buffers, which the file does not carry.
};

std::map<std::string, Exception> read_exceptions() {
  std::map<std::string, Exception> exceptions;
  std::ifstream file(PTERON_EXPECTATIONS);
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name;
    std::string kind;
    words >> name >> kind;
    Exception exception;
    if (kind == "values") words >> exception.error;
    if (kind == "state") words >> exception.state;
    std::getline(words >> std::ws, exception.text);
    exceptions[name] = exception;
  }
  return exceptions;
}

// Operators that this version lacks, from exceptions.txt's lines `operator NAME`.
std::set<std::string> read_missing_operators() {
  std::set<std::string> names;
  for (const auto& [name, exception] : read_exceptions()) {
    if (name.rfind("operator:", 0) == 0) names.insert(name.substr(9));
  }
  return names;
}

// Programs of which no region is compiled: a line each, NAME and why. Empty lines and # are
// skipped.
std::set<std::string> read_not_compiled() {
  std::ifstream file(PTERON_NOT_COMPILED);
  EXPECT_TRUE(file) << PTERON_NOT_COMPILED;
  std::set<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') names.insert(line.substr(0, line.find(' ')));
  }
  return names;
}

// Whether OpenVINO runs any of a method's own operators; adds to `reasons` why not all.
bool is_compiled(pteron_method* method, std::string& reasons) {
  char* text = nullptr;
  EXPECT_EQ(pteron_method_execution(method, &text, nullptr), PTERON_OK);
  const json accelerated = json::parse(text)["accelerated"];
  pteron_string_free(text);
  reasons += accelerated["kept"].dump();
  return !accelerated["regions"].empty();
}

// The greatest |got - wanted| / max(1, |wanted|); NaN equals NaN, and an infinity itself.
double largest_error(const pteron_tensor& got, const Array& wanted) {
  const auto dtype = static_cast<pteron_dtype>(got.dtype);
  const size_t size = pteron_dtype_size(dtype);
  std::vector<int64_t> strides(static_cast<size_t>(got.rank));
  auto dense = static_cast<int64_t>(size);
  for (size_t d = strides.size(); d-- > 0;) {
    strides[d] = got.strides ? got.strides[d] : dense;
    dense *= got.shape[d];
  }
  std::vector<int64_t> index(strides.size());
  const size_t wanted_size = pteron_dtype_size(wanted.dtype);
  double worst = 0;
  for (size_t i = 0; i < wanted.data.size() / wanted_size; ++i) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
    const double a = element_value(dtype, static_cast<const char*>(got.data) + at);
    // bfloat16 is stored as its bits.
    const double b = element_value(dtype == PTERON_BFLOAT16 ? dtype : wanted.dtype,
                                   wanted.data.data() + i * wanted_size);
    double error = std::fabs(a - b) / std::max(1.0, std::fabs(b));
    if (std::isnan(a) && std::isnan(b)) error = 0;
    if (std::isinf(b)) error = a == b ? 0 : INFINITY;
    if (std::isnan(error)) error = INFINITY;
    worst = std::max(worst, error);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < got.shape[d]) break;
      index[d] = 0;
    }
  }
  return worst;
}

double bound(const std::string& flow, const std::string& name, int32_t dtype) {
  if (dtype == PTERON_FLOAT16) return 2e-3;
  if (dtype == PTERON_BFLOAT16) return 1.6e-2;  // Two of its last places.
  if (dtype != PTERON_FLOAT32 && dtype != PTERON_FLOAT64) return 0;
  if (flow == "portable") return 1e-5;
  return name.rfind("quant__", 0) == 0 ? 5e-3 : 1e-4;
}

struct Failure {
  pteron_status status;
  std::string message;
};

// Takes the error, or returns OK.
Failure finish(pteron_status status, pteron_error* error) {
  Failure failure{status, error ? pteron_error_message(error) : ""};
  pteron_error_free(error);
  return failure;
}

struct Session {
  pteron_program* program = nullptr;
  std::map<std::string, pteron_method*> methods;
  ~Session() {
    for (auto& [name, method] : methods) pteron_method_free(method);
    pteron_program_free(program);
  }
};

// What runs a program's own operators.
struct Way {
  const char* name;  // Of the test suite: after the flow's.
  const char* openvino;
  pteron_accelerate accelerate;
};
constexpr Way kKernels{"", "PTERON_TEST_OPENVINO_2025_4_1", PTERON_ACCELERATE_OFF};
constexpr Way kWays[] = {
    kKernels,
    {"_compiled_2025", "PTERON_TEST_OPENVINO_2025_4_1", PTERON_ACCELERATE_ON},
    {"_compiled_2026", "PTERON_TEST_OPENVINO_2026_4_1", PTERON_ACCELERATE_ON},
};

class Golden : public testing::Test {
 public:
  Golden(std::string flow, std::string name, Way way)
      : flow_(std::move(flow)), name_(std::move(name)), way_(way) {}

  void TestBody() override {
    const fs::path folder = fs::path(PTERON_GOLDEN_DIR) / flow_ / name_;
    const json description = json::parse(std::ifstream(folder / "case.json"));
    std::string weights;
    if (description["ptd"].is_string())
      weights = (folder / description["ptd"].get<std::string>()).string();
    const char* openvino = std::getenv(way_.openvino);
    if ((flow_ == "openvino" || way_.accelerate == PTERON_ACCELERATE_ON) && !openvino)
      GTEST_SKIP() << way_.openvino << " is not set";

    pteron_program_options options = PTERON_INIT(pteron_program_options);
    options.openvino = openvino;
    options.accelerate = way_.accelerate;
    const char* weights_list[] = {weights.c_str()};
    options.weights = weights_list;
    options.weights_count = weights.empty() ? 0 : 1;
    Session session;
    pteron_error* error = nullptr;
    const pteron_status open_status = pteron_program_open((folder / "model.pte").string().c_str(),
                                                          &options, &session.program, &error);
    const Failure opened = finish(open_status, error);
    ASSERT_EQ(opened.status, PTERON_OK) << opened.message;

    const auto exceptions = read_exceptions();
    const auto found = exceptions.find(flow_ + "/" + name_);
    std::string expected_text = found != exceptions.end() ? found->second.text : "";
    const double allowed = found != exceptions.end() ? found->second.error : 0;
    std::set<std::string> absent;
    for (const auto& op : description["operators"]) {
      static const std::set<std::string> missing = read_missing_operators();
      if (missing.count(op)) absent.insert(op);
    }

    double worst = 0;
    for (size_t run = 0; run < description["runs"].size(); ++run) {
      const json& io = description["runs"][run];
      const std::string method_name = io["method"];
      pteron_method*& method = session.methods[method_name];
      if (!method) {
        pteron_method_options method_options = PTERON_INIT(pteron_method_options);
        for (auto& [other, loaded] : session.methods) {
          if (loaded) method_options.shares_state_with = loaded;
        }
        pteron_error* load_error = nullptr;
        const pteron_status status = pteron_method_load(session.program, method_name.c_str(),
                                                        &method_options, &method, &load_error);
        const Failure loaded = finish(status, load_error);
        if (!absent.empty()) {
          ASSERT_EQ(loaded.status, PTERON_MISSING)
              << "no longer missing: take them off exceptions.txt";
          for (const std::string& op : absent)
            EXPECT_NE(loaded.message.find(op), std::string::npos) << loaded.message;
          return;
        }
        if (found != exceptions.end() && found->second.state != 0) {
          ASSERT_EQ(loaded.status, PTERON_OK) << loaded.message;
          if (run == 0) set_state(method, found->second.state);
        } else if (found != exceptions.end() && allowed == 0) {
          ASSERT_NE(loaded.status, PTERON_OK) << "an exception that has gone away";
          EXPECT_NE(loaded.message.find("wrong in itself"), std::string::npos) << loaded.message;
          return;
        }
        ASSERT_EQ(loaded.status, PTERON_OK) << loaded.message;
      }
      run_once(method, io,
               tools::read_npz((folder / ("io_" + std::to_string(run) + ".npz")).string()), allowed,
               worst);
      if (HasFatalFailure()) return;
    }
    if (way_.accelerate == PTERON_ACCELERATE_ON) check_that_it_is_compiled(session);
    if (allowed > 0) {
      EXPECT_GT(worst, 1e-4) << "an exception that has gone away: " << expected_text;
    }
    // Of these PyTorch gave no result to compare with.
    if (name_ != "models__ModuleSimpleTrain") {
      EXPECT_GT(compared_, 0u);
    }
  }

 private:
  void check_that_it_is_compiled(const Session& session) {
    bool compiled = false;
    std::string reasons;
    for (const auto& [name, method] : session.methods) {
      compiled |= is_compiled(method, reasons);
    }
    static const std::set<std::string> not_compiled = read_not_compiled();
    EXPECT_EQ(compiled, not_compiled.count(name_) == 0) << "not_compiled.txt; " << reasons;
  }

  void set_state(pteron_method* method, float value) {
    ASSERT_EQ(pteron_method_state_count(method), 1u);
    const int64_t shape[] = {1};
    const pteron_value state = pteron_tensor_value(&value, PTERON_FLOAT32, 1, shape);
    ASSERT_EQ(pteron_method_set_state(method, 0, &state, nullptr), PTERON_OK);
  }

  void run_once(pteron_method* method, const json& io, const NamedArrays& arrays, double allowed,
                double& worst) {
    const auto array = [&](const std::string& key) -> const Array* {
      for (const auto& [name, a] : arrays) {
        if (name == key) return &a;
      }
      return nullptr;
    };
    std::vector<pteron_value> inputs;
    for (size_t i = 0; i < io["inputs"].size(); ++i) {
      const json& input = io["inputs"][i];
      pteron_value value{};
      if (input["kind"] == "tensor") {
        const Array* a = array("in_" + std::to_string(i));
        ASSERT_NE(a, nullptr);
        const bool is_bfloat16 = input["dtype"] == "bfloat16";
        value = pteron_tensor_value(const_cast<char*>(a->data.data()),
                                    is_bfloat16 ? PTERON_BFLOAT16 : a->dtype,
                                    static_cast<int32_t>(a->shape.size()), a->shape.data());
      } else if (input["kind"] == "float") {
        value.kind = PTERON_KIND_DOUBLE;
        value.as.real = input["value"];
      } else if (input["kind"] == "int") {
        value.kind = PTERON_KIND_INT;
        value.as.integer = input["value"];
      } else {
        ASSERT_EQ(input["kind"], "bool");
        value.kind = PTERON_KIND_BOOL;
        value.as.boolean = input["value"].get<bool>();
      }
      inputs.push_back(value);
    }
    pteron_error* error = nullptr;
    const pteron_status status = pteron_method_run(method, inputs.data(), inputs.size(), &error);
    const Failure ran = finish(status, error);
    ASSERT_EQ(ran.status, PTERON_OK) << ran.message;
    // What ExecuTorch made of the outputs is listed only where it could run, and is wrong where it
    // was wrong about shapes: PyTorch's own arrays count.
    if (!io["outputs"].empty()) {
      ASSERT_EQ(pteron_method_output_count(method), io["outputs"].size());
    }
    for (size_t i = 0; i < pteron_method_output_count(method); ++i) {
      pteron_value output{};
      ASSERT_EQ(pteron_method_get_output(method, i, &output, nullptr), PTERON_OK);
      const json described = i < io["outputs"].size() ? io["outputs"][i] : json();
      if (!described.is_null() && described["kind"] != "tensor") {
        EXPECT_EQ(output.kind, PTERON_KIND_NONE);
        continue;
      }
      ASSERT_EQ(output.kind, PTERON_KIND_TENSOR);
      const pteron_tensor& tensor = output.as.tensor;
      const Array* eager = array("eager_" + std::to_string(i));
      if (!eager) continue;
      const bool is_bfloat16 = tensor.dtype == PTERON_BFLOAT16 && eager->dtype == PTERON_UINT16;
      EXPECT_TRUE(is_bfloat16 || tensor.dtype == eager->dtype)
          << tensor.dtype << " and " << eager->dtype;
      const std::vector<int64_t> shape(tensor.shape, tensor.shape + tensor.rank);
      ASSERT_EQ(shape, eager->shape);
      ++compared_;
      const double difference = largest_error(tensor, *eager);
      worst = std::max(worst, difference);
      EXPECT_LE(
          difference,
          std::max(allowed, bound(way_.accelerate == PTERON_ACCELERATE_ON ? "compiled" : flow_,
                                  name_, tensor.dtype)))
          << "output " << i;
    }
  }

  std::string flow_;
  std::string name_;
  Way way_;
  size_t compared_ = 0;
};

// A model of tests/data/models: NAME.npz has in0..., out0...
class Model : public testing::Test {
 public:
  Model(std::string program, std::string data, double tolerance, Way way)
      : program_(std::move(program)),
        data_(std::move(data)),
        tolerance_(way.accelerate == PTERON_ACCELERATE_ON ? 1e-4 : tolerance),
        way_(way) {}

  void TestBody() override {
    const char* openvino = std::getenv(way_.openvino);
    const bool delegated = program_.find("openvino") != std::string::npos;
    if ((delegated || way_.accelerate == PTERON_ACCELERATE_ON) && !openvino)
      GTEST_SKIP() << way_.openvino << " is not set";
    const std::string folder = std::string(PTERON_TEST_DATA) + "/models/";
    pteron_program_options options = PTERON_INIT(pteron_program_options);
    options.openvino = openvino;
    options.accelerate = way_.accelerate;
    Session session;
    pteron_error* error = nullptr;
    ASSERT_EQ(pteron_program_open((folder + program_ + ".pte").c_str(), &options, &session.program,
                                  nullptr),
              PTERON_OK);
    const pteron_status status =
        pteron_method_load(session.program, nullptr, nullptr, &session.methods["forward"], &error);
    const Failure loaded = finish(status, error);
    ASSERT_EQ(loaded.status, PTERON_OK) << loaded.message;
    pteron_method* method = session.methods["forward"];
    const NamedArrays arrays = tools::read_npz(folder + data_ + ".npz");
    std::vector<pteron_value> inputs;
    for (const auto& [name, a] : arrays) {
      if (name.rfind("in", 0) != 0) continue;
      inputs.push_back(pteron_tensor_value(const_cast<char*>(a.data.data()), a.dtype,
                                           static_cast<int32_t>(a.shape.size()), a.shape.data()));
    }
    error = nullptr;
    const pteron_status run_status =
        pteron_method_run(method, inputs.data(), inputs.size(), &error);
    const Failure ran = finish(run_status, error);
    ASSERT_EQ(ran.status, PTERON_OK) << ran.message;
    size_t compared = 0;
    for (const auto& [name, a] : arrays) {
      if (name.rfind("out", 0) != 0) continue;
      pteron_value output{};
      ASSERT_EQ(pteron_method_get_output(method, static_cast<size_t>(std::stoi(name.substr(3))),
                                         &output, nullptr),
                PTERON_OK);
      const pteron_tensor& tensor = output.as.tensor;
      ASSERT_EQ(std::vector<int64_t>(tensor.shape, tensor.shape + tensor.rank), a.shape);
      EXPECT_LE(largest_error(tensor, a), tolerance_) << name;
      ++compared;
    }
    EXPECT_GT(compared, 0u);
    std::string reasons;
    EXPECT_EQ(is_compiled(method, reasons), way_.accelerate == PTERON_ACCELERATE_ON) << reasons;
  }

 private:
  std::string program_;
  std::string data_;
  double tolerance_;
  Way way_;
};

// P-Net with dynamic height and width: a picture of any size gives maps of the size that its layers
// make.
TEST(DynamicShapes, ThreePictureSizesGiveTheirOwnMaps) {
  const char* openvino = std::getenv("PTERON_TEST_OPENVINO_2025_4_1");
  if (!openvino) GTEST_SKIP() << "PTERON_TEST_OPENVINO_2025_4_1 is not set";
  pteron_program_options options = PTERON_INIT(pteron_program_options);
  options.openvino = openvino;
  Session session;
  const std::string path = std::string(PTERON_TEST_DATA) + "/models/pnet_dynamic_openvino.pte";
  ASSERT_EQ(pteron_program_open(path.c_str(), &options, &session.program, nullptr), PTERON_OK);
  pteron_method*& method = session.methods["forward"];
  ASSERT_EQ(pteron_method_load(session.program, nullptr, nullptr, &method, nullptr), PTERON_OK);
  for (const auto& [height, width] :
       {std::pair<int64_t, int64_t>{96, 128}, {48, 64}, {200, 80}, {96, 128}}) {
    std::vector<float> picture(static_cast<size_t>(3 * height * width), 0.25f);
    const int64_t shape[] = {1, 3, height, width};
    const pteron_value input = pteron_tensor_value(picture.data(), PTERON_FLOAT32, 4, shape);
    ASSERT_EQ(pteron_method_run(method, &input, 1, nullptr), PTERON_OK);
    // A 3x3 convolution, a 2x2 pooling that rounds up, two more 3x3 convolutions.
    const auto map_size = [](int64_t n) { return (n - 2 + 1) / 2 - 4; };
    for (size_t i = 0; i < 2; ++i) {
      pteron_value output{};
      ASSERT_EQ(pteron_method_get_output(method, i, &output, nullptr), PTERON_OK);
      const auto& tensor = output.as.tensor;
      const std::vector<int64_t> got(tensor.shape, tensor.shape + tensor.rank);
      EXPECT_EQ(got, (std::vector<int64_t>{1, i == 0 ? 4 : 2, map_size(height), map_size(width)}));
    }
  }
  // Past the bound: an error that names it, and the method goes on working.
  std::vector<float> large(3 * 1024 * 1024);
  const int64_t shape[] = {1, 3, 1024, 1024};
  const pteron_value input = pteron_tensor_value(large.data(), PTERON_FLOAT32, 4, shape);
  pteron_error* error = nullptr;
  const pteron_status status = pteron_method_run(method, &input, 1, &error);
  const Failure failed = finish(status, error);
  EXPECT_EQ(failed.status, PTERON_INVALID_ARGUMENT);
  EXPECT_NE(failed.message.find("<="), std::string::npos) << failed.message;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (const char* flow : {"portable", "openvino"}) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(fs::path(PTERON_GOLDEN_DIR) / flow)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      for (const Way& way : kWays) {
        if (way.accelerate == PTERON_ACCELERATE_ON && std::string(flow) == "openvino") continue;
        testing::RegisterTest(("Golden_" + std::string(flow) + way.name).c_str(), name.c_str(),
                              nullptr, nullptr, __FILE__, __LINE__,
                              [=]() -> testing::Test* { return new Golden(flow, name, way); });
      }
    }
  }
  const struct {
    const char* program;
    const char* data;
    double tolerance;
  } models[] = {{"crepe_openvino", "crepe", 1e-4},
                {"lstm_openvino", "lstm", 1e-5},
                {"pnet_openvino", "pnet", 1e-4},
                {"pnet_dynamic_openvino", "pnet_dynamic", 1e-4},
                {"crepe_portable", "crepe", 1e-5},
                {"crepe_dynamic_portable", "crepe_dynamic", 1e-5},
                {"lstm_portable", "lstm", 1e-5},
                {"pnet_portable", "pnet", 1e-5},
                {"pnet_dynamic_portable", "pnet_dynamic", 1e-5}};
  for (const auto& model : models) {
    for (const Way& way : kWays) {
      const bool delegated = std::string(model.program).find("openvino") != std::string::npos;
      if (way.accelerate == PTERON_ACCELERATE_ON && delegated) continue;
      testing::RegisterTest(("Models" + std::string(way.name)).c_str(), model.program, nullptr,
                            nullptr, __FILE__, __LINE__, [=]() -> testing::Test* {
                              return new Model(model.program, model.data, model.tolerance, way);
                            });
    }
  }
  return RUN_ALL_TESTS();
}
