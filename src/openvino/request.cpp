#include "openvino/request.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <span>

#include "base/checked.h"
#include "openvino/convert.h"
#include "openvino/status.h"

namespace pteron {
namespace {

using Status = ov::ov_status_e;
using Shape = std::array<int64_t, kMaxRank>;

// Something to point an empty tensor at: OpenVINO refuses null.
alignas(64) std::byte empty_memory[64];

// What is known of one port between runs, so that a run sets only what has changed.
struct Slot {
  const Port* port;
  bool fixed = false;    // The port's shape is fixed: it is OpenVINO's shape for every run.
  bool direct = false;   // OpenVINO uses the program's memory; else values are copied or converted.
  bool settled = false;  // Direct, and of one shape in all runs: only the address may change.
  bool passed = false;   // An output that is an input as it came.
  void* data = nullptr;  // What OpenVINO's tensor points at.
  Shape shape{};
  size_t rank = 0;
  TensorHandle tensor;
  Buffer staging;

  std::span<const int64_t> sizes() const { return {shape.data(), rank}; }
  bool has_shape(std::span<const int64_t> other) const {
    return std::equal(other.begin(), other.end(), shape.begin(), shape.begin() + rank);
  }
};

class Request final : public DelegateInstance, private Stop::Waiter {
 public:
  Request(const OpenvinoLibrary& library, std::shared_ptr<const CompiledModelHandle> model,
          InferRequestHandle handle)
      : library_(library), model_(std::move(model)), handle_(std::move(handle)) {}

  void add_input(const Port& port, const Value& value) {
    Slot slot = make_slot(port);
    slot.direct = value.kind == ValueKind::Tensor && value.tensor->is_row_major() &&
                  value.tensor->dtype() == port.dtype;
    slot.settled = slot.direct && slot.fixed && !value.tensor->is_dynamic();
    inputs_.push_back(std::move(slot));
  }

  void add_output(const Port& port, const Value& value, bool staged) {
    Slot slot = make_slot(port);
    // A tensor of the program's that is dynamic takes its size from the model at each run.
    slot.direct = !staged && slot.fixed && !value.tensor->is_dynamic() &&
                  value.tensor->is_row_major() && value.tensor->dtype() == port.dtype;
    outputs_.push_back(std::move(slot));
  }

  size_t input_count() const override { return inputs_.size(); }

  Result<void> execute(KernelContext& context, const Args& args) override {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Value& value = args.value(i);
      Slot& slot = inputs_[i];
      // The usual case, first: the program's own memory, where it was before.
      if (slot.settled && slot.data == value.tensor->raw() && slot.data != nullptr) continue;
      PTERON_TRY(set_input(i, slot, value));
    }
    if (!knows_passed_) PTERON_TRY(find_passed());
    for (size_t i = 0; i < outputs_.size(); ++i) {
      Slot& slot = outputs_[i];
      if (slot.passed) continue;
      if (!slot.direct) {
        if (slot.fixed && slot.data == nullptr) PTERON_TRY(stage_output(slot, i));
        continue;
      }
      void* data = args.tensor(inputs_.size() + i).raw();
      if (slot.data == data && data != nullptr) continue;
      PTERON_TRY(point(slot, data, i, false));
    }
    Stop* const stop = context.stop();
    const Status status = stop != nullptr && stop->has_limit()
                              ? infer_until_due(*stop)
                              : library_->ov_infer_request_infer(handle_.get());
    if (status != Status::Ok) {
      if (stop != nullptr && stop->is_due()) return stop->error();
      return openvino_error(library_, Code::Failed, "OpenVINO's model failed", status);
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (!outputs_[i].direct) PTERON_TRY(fetch_output(i, args.tensor(inputs_.size() + i)));
    }
    return {};
  }

  std::vector<DelegateProfileRow> profile() const override {
    std::vector<DelegateProfileRow> rows;
    ov::ov_profiling_info_list_t list{};
    if (library_->ov_infer_request_get_profiling_info(handle_.get(), &list) != Status::Ok)
      return rows;
    for (size_t i = 0; i < list.size; ++i) {
      const ov::ov_profiling_info_t& info = list.profiling_infos[i];
      if (info.status != ov::ov_profiling_status_e::Executed) continue;
      const auto text = [](const char* s) { return std::string(s ? s : ""); };
      rows.push_back({text(info.node_name), text(info.node_type), text(info.exec_type),
                      info.real_time, info.cpu_time});
    }
    library_->ov_profiling_info_list_free(&list);
    return rows;
  }

 private:
  // OpenVINO's CPU heeds a cancellation only of what it runs on its own thread; that costs some
  // 100 us a call.
  Status infer_until_due(Stop& stop) {
    if (const Status status = library_->ov_infer_request_start_async(handle_.get());
        status != Status::Ok) {
      return status;
    }
    const Stop::Waiting waiting(stop, *this);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(stop.left()).count();
    library_->ov_infer_request_wait_for(handle_.get(), std::max<int64_t>(left, 0));
    if (stop.is_due()) interrupt();
    return library_->ov_infer_request_wait(handle_.get());
  }

  void interrupt() override { library_->ov_infer_request_cancel(handle_.get()); }

  Slot make_slot(const Port& port) const {
    Slot slot;
    slot.port = &port;
    slot.fixed = port.is_static() && port.dims.size() <= kMaxRank;
    if (slot.fixed) {
      slot.rank = port.dims.size();
      for (size_t i = 0; i < slot.rank; ++i) slot.shape[i] = port.dims[i].min;
    }
    return slot;
  }

  // Lets OpenVINO's tensor for this port point at `data`.
  Result<void> point(Slot& slot, void* data, size_t index, bool is_input) {
    void* target = data ? data : empty_memory;
    ov::ov_shape_t shape{static_cast<int64_t>(slot.rank),
                         slot.rank > 0 ? slot.shape.data() : nullptr};
    ov::ov_tensor_t* raw = nullptr;
    Status status = library_->ov_tensor_create_from_host_ptr(slot.port->type, shape, target, &raw);
    TensorHandle tensor(library_, raw);
    if (status == Status::Ok) {
      status =
          is_input
              ? library_->ov_infer_request_set_input_tensor_by_index(handle_.get(), index, raw)
              : library_->ov_infer_request_set_output_tensor_by_index(handle_.get(), index, raw);
    }
    if (status != Status::Ok) {
      slot.data = nullptr;
      return openvino_error(library_, Code::InvalidArgument,
                            slot.port->name + " of " + slot.port->describe() +
                                " does not take shape " + describe_shape(slot.sizes()),
                            status);
    }
    slot.tensor = std::move(tensor);
    slot.data = data;
    return {};
  }

  Result<void> set_input(size_t index, Slot& slot, const Value& value) {
    if (value.kind != ValueKind::Tensor) return set_scalar(index, slot, value);
    const Tensor& tensor = *value.tensor;
    const bool same_shape = slot.has_shape(tensor.sizes());
    if (slot.fixed && !same_shape && !(tensor.numel() == 1 && slot.port->is_single())) {
      return Error{Code::InvalidArgument, "the model's " + slot.port->name + " is " +
                                              slot.port->describe() + ", but got shape " +
                                              describe_shape(tensor.sizes())};
    }
    void* data = tensor.raw();
    if (!slot.direct) {
      const size_t bytes = static_cast<size_t>(tensor.numel()) * dtype_size(*slot.port->dtype);
      PTERON_TRY(stage(slot, bytes));
      auto copied = copy_from_tensor(tensor, slot.staging.data(), *slot.port->dtype);
      if (!copied.ok())
        return Error{copied.error().code, slot.port->name + ": " + copied.error().message};
      data = slot.staging.data();
    }
    if ((slot.fixed || same_shape) && slot.data == data && data != nullptr) return {};
    // Only now: until here the slot tells what OpenVINO has, whatever failed on the way.
    if (!slot.fixed) {
      slot.rank = static_cast<size_t>(tensor.rank());
      std::copy(tensor.sizes().begin(), tensor.sizes().end(), slot.shape.begin());
    }
    return point(slot, data, index, true);
  }

  Result<void> set_scalar(size_t index, Slot& slot, const Value& value) {
    const DType to = *slot.port->dtype;
    PTERON_TRY(stage(slot, dtype_size(to)));
    auto stored = store_scalar(value, slot.staging.data(), to);
    if (!stored.ok())
      return Error{stored.error().code, slot.port->name + ": " + stored.error().message};
    if (slot.data == slot.staging.data()) return {};
    return point(slot, slot.staging.data(), index, true);
  }

  Result<void> stage(Slot& slot, size_t bytes) {
    if (slot.staging.size() >= std::max<size_t>(bytes, 1)) return {};
    slot.data = nullptr;
    slot.staging = Buffer(system_allocator(), std::max<size_t>(bytes, 1));
    return {};
  }

  // Where a model gives an input as an output, unchanged, OpenVINO's CPU has one tensor for both:
  // to set the output would take the input away from the whole model. Comes when the inputs are
  // set.
  Result<void> find_passed() {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      Slot& slot = outputs_[i];
      if (!slot.fixed) continue;
      ov::ov_tensor_t* raw = nullptr;
      Status status = library_->ov_infer_request_get_output_tensor_by_index(handle_.get(), i, &raw);
      const TensorHandle own(library_, raw);
      void* data = nullptr;
      if (status == Status::Ok) status = library_->ov_tensor_data(raw, &data);
      if (status != Status::Ok)
        return openvino_error(library_, Code::Failed, slot.port->name + " cannot be read", status);
      slot.passed = std::any_of(inputs_.begin(), inputs_.end(), [data](const Slot& input) {
        return input.data != nullptr && input.data == data;
      });
      if (slot.passed) slot.direct = false;
    }
    knows_passed_ = true;
    return {};
  }

  // An output of fixed shape that differs in dtype or memory order: OpenVINO writes to memory of
  // ours, which stays.
  Result<void> stage_output(Slot& slot, size_t index) {
    size_t bytes = dtype_size(*slot.port->dtype);
    for (const int64_t size : slot.sizes()) {
      if (!checked_mul(bytes, static_cast<size_t>(size), bytes))
        return Error{Code::ResourceLimit, slot.port->name + " does not fit memory"};
    }
    PTERON_TRY(stage(slot, bytes));
    return point(slot, slot.staging.data(), index, false);
  }

  Result<void> fetch_output(size_t index, Tensor& tensor) {
    const Slot& slot = outputs_[index];
    if (slot.fixed && !slot.passed)
      return keep_output(slot, slot.staging.data(), slot.sizes(), tensor);
    ov::ov_tensor_t* raw = nullptr;
    Status status =
        library_->ov_infer_request_get_output_tensor_by_index(handle_.get(), index, &raw);
    const TensorHandle result(library_, raw);
    ov::ov_shape_t shape{};
    void* data = nullptr;
    ov::ov_element_type_e type{};
    if (status == Status::Ok) status = library_->ov_tensor_get_element_type(raw, &type);
    if (status == Status::Ok) status = library_->ov_tensor_data(raw, &data);
    // The C interface tells no shape of rank 0.
    if (status == Status::Ok && !slot.fixed) status = library_->ov_tensor_get_shape(raw, &shape);
    if (status != Status::Ok) {
      return openvino_error(library_, Code::Failed, slot.port->name + " cannot be read", status);
    }
    if (slot.fixed && type == slot.port->type) return keep_output(slot, data, slot.sizes(), tensor);
    Shape sizes{};
    const auto rank = static_cast<size_t>(std::clamp<int64_t>(shape.rank, 0, kMaxRank));
    std::copy_n(shape.dims, rank, sizes.begin());
    const int64_t came = shape.rank;
    library_->ov_shape_free(&shape);
    if (came != static_cast<int64_t>(rank) || type != slot.port->type) {
      return Error{Code::Failed, slot.port->name + " of " + slot.port->describe() + " came as " +
                                     element_type_name(type) + " of rank " + std::to_string(came)};
    }
    return keep_output(slot, data, {sizes.data(), rank}, tensor);
  }

  // Gives the program's tensor the shape and the values that came.
  Result<void> keep_output(const Slot& slot, const void* data, std::span<const int64_t> sizes,
                           Tensor& tensor) {
    const bool single =
        sizes.size() != static_cast<size_t>(tensor.rank()) && tensor.numel() == 1 &&
        std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size == 1; });
    if (!single) {
      auto resized = tensor.resize(sizes);
      if (!resized.ok())
        return Error{Code::Failed, slot.port->name + ": " + resized.error().message};
    }
    auto copied = copy_to_tensor(data, *slot.port->dtype, tensor);
    if (!copied.ok()) return Error{Code::Failed, slot.port->name + ": " + copied.error().message};
    return {};
  }

  const OpenvinoLibrary& library_;
  std::shared_ptr<const CompiledModelHandle> model_;
  // The request goes before the tensors that it points at, so it is declared after them.
  std::vector<Slot> inputs_;
  std::vector<Slot> outputs_;
  bool knows_passed_ = false;
  InferRequestHandle handle_;
};

}  // namespace

Result<std::unique_ptr<DelegateInstance>> make_request(
    const OpenvinoLibrary& library, std::shared_ptr<const CompiledModelHandle> model,
    const Ports& ports, const Args& args, const std::vector<bool>& staged) {
  ov::ov_infer_request_t* raw = nullptr;
  const Status status = library->ov_compiled_model_create_infer_request(model->get(), &raw);
  if (status != Status::Ok) {
    return openvino_error(library, Code::Failed, "an infer request cannot be made", status);
  }
  auto request =
      std::make_unique<Request>(library, std::move(model), InferRequestHandle(library, raw));
  for (size_t i = 0; i < ports.inputs.size(); ++i)
    request->add_input(ports.inputs[i], args.value(i));
  for (size_t i = 0; i < ports.outputs.size(); ++i) {
    request->add_output(ports.outputs[i], args.value(ports.inputs.size() + i),
                        i < staged.size() && staged[i]);
  }
  return std::unique_ptr<DelegateInstance>(std::move(request));
}

}  // namespace pteron
