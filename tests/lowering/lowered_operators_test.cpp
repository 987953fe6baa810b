// Replays the recorded calls of operators, each as a program of one instruction that OpenVINO
// compiles, and holds the results against PyTorch's: shapes, integers and bools exactly, float32 to
// 1e-4 (relative, with a floor of 1), float16 and bfloat16 to two of their last places.
//
// What lowering refuses is counted, and run by nobody: its kernel has tests of its own.
// --cases=FILE replays another file; --document prints the tables of docs/acceleration.md, against
// which the tests hold what they see; --table the same for a terminal, with what is wrong.
// PTERON_TEST_OPENVINO_2025_4_1 says where OpenVINO is, or the variable that --openvino=VARIABLE
// names.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <set>

#include "api/accelerate.h"
#include "case_text.h"
#include "kernels/tables.h"
#include "lowering/call.h"
#include "runtime/method.h"

namespace pteron {
namespace {

// What a caller holds: a tensor's elements in its own memory order.
struct HostTensor {
  std::string data;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  DType dtype;

  explicit HostTensor(const CaseTensor& from)
      : data(from.data), shape(from.sizes.begin(), from.sizes.end()), dtype(from.dtype) {
    strides.resize(shape.size());
    auto step = static_cast<int64_t>(dtype_size(dtype));
    for (size_t d = shape.size(); d-- > 0;) {
      strides[from.order[d]] = step;
      step *= shape[from.order[d]];
    }
  }
  ArrayView view() { return {data.data(), dtype, shape, strides.data()}; }
};

// A program of one call.
class OneCall {
 public:
  explicit OneCall(const Case& one) {
    plan_.name = "forward";
    plan_.buffers.push_back(0);
    std::vector<ValueIndex> arguments;
    for (const CaseValue& value : one.arguments) arguments.push_back(add(value, false));
    for (const CaseValue& value : one.outputs) arguments.push_back(add(value, true));
    plan_.operators.push_back(one.name);
    plan_.chains.emplace_back();
    plan_.chains[0].instructions.push_back(KernelCall{0, arguments});
  }

  Plan plan() const { return plan_; }
  std::vector<HostValue> inputs() {
    std::vector<HostValue> values;
    for (HostTensor& tensor : tensors_) values.push_back(tensor.view());
    return values;
  }

 private:
  ValueIndex append(ValueDef def) {
    plan_.values.push_back(std::move(def));
    return static_cast<ValueIndex>(plan_.values.size() - 1);
  }

  ValueIndex add_tensor(const CaseTensor& from, bool is_output) {
    TensorDef def;
    def.dtype = from.dtype;
    def.sizes.assign(from.sizes.begin(), from.sizes.end());
    def.dim_order.assign(from.order.begin(), from.order.end());
    uint64_t& size = plan_.buffers[0];
    def.allocation = Allocation{1, size};
    size += (def.nbytes() + 63) / 64 * 64;
    const ValueIndex index = append(std::move(def));
    if (is_output) {
      plan_.outputs.push_back(index);
    } else {
      plan_.inputs.push_back(index);
      tensors_.emplace_back(from);
    }
    return index;
  }

  ValueIndex add(const CaseValue& from, bool is_output) {
    switch (from.kind) {
      case 'n':
        return append(NoneDef{});
      case 'i':
        return append(from.integer);
      case 'd':
        return append(from.real);
      case 'b':
        return append(from.integer != 0);
      case 'g':
        return append(std::string(from.text));
      case 'L': {
        IntList list;
        for (const int64_t item : from.ints) list.items.push_back(append(item));
        return append(std::move(list));
      }
      case 'F': {
        DoubleList list;
        list.items.assign(from.reals.begin(), from.reals.end());
        return append(std::move(list));
      }
      case 'Q': {
        BoolList list;
        for (const int64_t item : from.ints) list.items.push_back(item != 0);
        return append(std::move(list));
      }
      case 'V': {
        TensorList list;
        for (const CaseValue& item : from.items) list.items.push_back(add(item, is_output));
        return append(std::move(list));
      }
      case 'v': {
        OptionalTensorList list;
        for (const CaseValue& item : from.items)
          list.items.push_back(item.kind == 'n' ? -1 : static_cast<int32_t>(add(item, is_output)));
        return append(std::move(list));
      }
      default: {
        const ValueIndex index = add_tensor(from.tensor, is_output);
        if (from.kind == 'M') plan_.outputs.push_back(index);
        return index;
      }
    }
  }

  Plan plan_;
  std::vector<HostTensor> tensors_;
};

std::string compare(const HostValue& output, const CaseTensor& wanted, const std::string& data) {
  const auto* got = std::get_if<ArrayView>(&output);
  if (got == nullptr) return "no tensor";
  CaseTensor with_data = wanted;
  with_data.data = data;
  const HostTensor host(with_data);
  if (!std::equal(got->shape.begin(), got->shape.end(), host.shape.begin(), host.shape.end()))
    return "another shape";
  const size_t size = dtype_size(wanted.dtype);
  std::vector<int64_t> index(host.shape.size());
  for (size_t n = 0; n < data.size() / size; ++n) {
    int64_t from = 0;
    int64_t dense = 0;
    int64_t to = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      if (got->strides != nullptr) from += index[d] * got->strides[d];
      dense = dense * host.shape[d] + index[d];
      to += index[d] * host.strides[d];
    }
    if (got->strides == nullptr) from = dense * static_cast<int64_t>(size);
    const std::string difference = compare_element(
        wanted.dtype, static_cast<const char*>(got->data) + from, data.data() + to, 1e-4);
    if (!difference.empty()) return difference + " at element " + std::to_string(n);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < host.shape[d]) break;
      index[d] = 0;
    }
  }
  return {};
}

struct Tried {
  bool is_lowered = false;
  std::string reason;  // Why it is not.
  std::string wrong;   // What is wrong with what came out, or nothing.
};

std::string library;

Tried replay(const Case& one) {
  Tried tried;
  OneCall made(one);
  Program program;
  program.plans.push_back(made.plan());
  RuntimeOptions options;
  for (const auto table : all_kernels()) options.kernels.push_back(table);
  OpenvinoOptions openvino;
  openvino.library = library;
  options.accelerator = make_openvino_accelerator(openvino, true);
  auto loaded = LoadedProgram::make(std::move(program), std::move(options));
  if (!loaded.ok()) return {false, "the program is refused: " + loaded.error().message, ""};
  auto method = Method::load(*loaded, "forward");
  if (!method.ok()) return {false, "the method is refused: " + method.error().message, ""};
  auto report = (*method)->acceleration();
  if (report.regions.empty()) {
    tried.reason = report.kept.empty() ? "nothing to do" : report.kept[0].reason;
    return tried;
  }
  const auto inputs = made.inputs();
  if (auto ran = (*method)->run(inputs); !ran.ok()) {
    tried.is_lowered = true;
    tried.wrong = "error: " + ran.error().message;
    return tried;
  }
  report = (*method)->acceleration();
  if (report.regions.empty()) {
    tried.reason = "as it runs: " + report.kept[0].reason;
    return tried;
  }
  tried.is_lowered = true;
  size_t output = 0;
  const auto check = [&](const CaseTensor& wanted, const std::string& data) {
    auto got = (*method)->output(output++);
    if (!tried.wrong.empty()) return;
    tried.wrong = got.ok() ? compare(*got, wanted, data) : got.error().message;
    if (!tried.wrong.empty())
      tried.wrong = "output " + std::to_string(output - 1) + ": " + tried.wrong;
  };
  for (const CaseValue& value : one.arguments) {
    if (value.kind == 'M') check(value.tensor, value.changed);
  }
  for (size_t i = 0; i < one.outputs.size(); ++i) {
    if (is_undefined(one, i)) {
      ++output;
    } else if (one.outputs[i].kind == 'T') {
      check(one.outputs[i].tensor, one.outputs[i].tensor.data);
    } else {
      for (const CaseValue& item : one.outputs[i].items) check(item.tensor, item.tensor.data);
    }
  }
  return tried;
}

// How an operator's recorded calls fared.
struct Share {
  size_t calls = 0;
  size_t lowered = 0;
  size_t wrong = 0;
  std::map<std::string, size_t> reasons;

  void note(const Tried& tried) {
    ++calls;
    lowered += tried.is_lowered ? 1 : 0;
    wrong += tried.wrong.empty() ? 0 : 1;
    if (!tried.is_lowered) ++reasons[tried.reason];
  }
};

// A row of the document's table.
std::string document_row(const std::string& name, const Share& share) {
  std::string row = "| `" + name + "` | " + std::to_string(share.lowered) + " of " +
                    std::to_string(share.calls) + " |";
  const char* separator = " ";
  for (const auto& [reason, count] : share.reasons) {
    row += separator + reason;
    separator = "; ";
  }
  return row + " |";
}

// By operator.
std::map<std::string, std::string> read_document() {
  std::map<std::string, std::string> rows;
  std::ifstream file(PTERON_ACCELERATION_DOCUMENT);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    rows[line.substr(3, line.find('`', 3) - 3)] = line;
  }
  return rows;
}

bool checks_document = true;

class LoweredOperator : public testing::Test {
 public:
  LoweredOperator(std::string name, std::vector<const Case*> cases)
      : name_(std::move(name)), cases_(std::move(cases)) {}

  void TestBody() override {
    if (library.empty()) GTEST_SKIP() << "nothing says where OpenVINO is";
    Share share;
    for (const Case* one : cases_) {
      const Tried tried = replay(*one);
      share.note(tried);
      if (!tried.wrong.empty() && share.wrong <= 4)
        ADD_FAILURE() << describe(*one) << "\n  " << tried.wrong;
    }
    EXPECT_EQ(share.wrong, 0u) << "of " << share.lowered << " that are lowered";
    EXPECT_GT(share.lowered, 0u) << "of " << cases_.size();
    if (!checks_document) return;
    static const auto document = read_document();
    const auto row = document.find(name_);
    EXPECT_EQ(row == document.end() ? "" : row->second, document_row(name_, share))
        << "docs/acceleration.md, for whose tables --document prints";
  }

 private:
  std::string name_;
  std::vector<const Case*> cases_;
};

using CasesByName = std::map<std::string, std::vector<const Case*>>;

Share share_of(const std::vector<const Case*>& cases) {
  Share share;
  for (const Case* one : cases) share.note(replay(*one));
  return share;
}

void print_table(const CasesByName& by_name) {
  size_t rows = 0;
  for (const auto& [name, cases] : by_name) {
    if (find_row(name) == nullptr) {
      std::cout << name << ": no row\n";
      continue;
    }
    ++rows;
    const Share share = share_of(cases);
    std::cout << name << ": " << share.lowered << " of " << cases.size() << ", " << share.wrong
              << " wrong";
    for (const auto& [reason, count] : share.reasons) std::cout << "; " << count << " " << reason;
    std::cout << std::endl;
  }
  std::cout << rows << " operators with rows\n";
}

void print_document(const CasesByName& by_name) {
  std::string without;
  size_t rows = 0;
  std::cout << "| operator | compiled, of its recorded calls | what stays with its kernel |\n"
               "| --- | --- | --- |\n";
  for (const auto& [name, cases] : by_name) {
    if (find_row(name) == nullptr) {
      without += (without.empty() ? "`" : ", `") + name + "`";
      continue;
    }
    ++rows;
    std::cout << document_row(name, share_of(cases)) << std::endl;
  }
  std::cout << "\n"
            << rows << " operators. Without a row, always with their kernels: " << without << ".\n";
}

}  // namespace
}  // namespace pteron

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::string path = PTERON_TEST_DATA "/operators.bin.gz";
  std::string variable = "PTERON_TEST_OPENVINO_2025_4_1";
  bool is_table = false;
  bool is_document = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--cases=", 8) == 0) path = argv[i] + 8;
    if (std::strncmp(argv[i], "--openvino=", 11) == 0) variable = argv[i] + 11;
    if (std::strcmp(argv[i], "--table") == 0) is_table = true;
    if (std::strcmp(argv[i], "--document") == 0) is_document = true;
    // The document tells of the recorded cases.
    if (std::strncmp(argv[i], "--cases=", 8) == 0) pteron::checks_document = false;
  }
  if (const char* place = std::getenv(variable.c_str())) pteron::library = place;
  static std::vector<pteron::Case> cases = pteron::read_cases(path);
  std::map<std::string, std::vector<const pteron::Case*>> by_name;
  for (const auto& one : cases) {
    if (!pteron::is_refused(one)) by_name[one.name].push_back(&one);
  }
  if (is_table) {
    pteron::print_table(by_name);
    return 0;
  }
  if (is_document) {
    pteron::print_document(by_name);
    return 0;
  }
  for (const auto& [name, list] : by_name) {
    if (pteron::find_row(name) == nullptr) continue;
    std::string title = name;
    for (char& c : title) c = c == ':' || c == '.' ? '_' : c;
    testing::RegisterTest("LoweredOperators", title.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [name = name, own = list]() -> testing::Test* {
                            return new pteron::LoweredOperator(name, own);
                          });
  }
  return RUN_ALL_TESTS();
}
