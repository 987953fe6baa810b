#include <algorithm>
#include <set>

#include "base/text.h"
#include "flat_tensor_generated.h"
#include "program/container.h"
#include "program/decode.h"
#include "program/rules.h"

namespace pteron {
namespace {

Result<WeightsEntry::Layout> decode_layout(const FileBytes& file, const fb_tensor::TensorLayout& in,
                                           const std::string& what) {
  const auto dtype = dtype_from_number(in.scalar_type());
  if (!dtype) {
    return malformed(file,
                     what + ": dtype number " + std::to_string(in.scalar_type()) + " is unknown");
  }
  std::span<const int32_t> sizes;
  std::span<const uint8_t> dim_order;
  if (in.sizes() != nullptr) sizes = {in.sizes()->data(), in.sizes()->size()};
  if (in.dim_order() != nullptr) dim_order = {in.dim_order()->data(), in.dim_order()->size()};
  const std::string wrong_shape = why_no_shape(*dtype, sizes, dim_order);
  if (!wrong_shape.empty()) return malformed(file, what + ": " + wrong_shape);
  return WeightsEntry::Layout{
      *dtype, {sizes.begin(), sizes.end()}, {dim_order.begin(), dim_order.end()}};
}

Result<void> check_size(const FileBytes& file, const WeightsEntry& entry, const std::string& what) {
  uint64_t bytes = dtype_size(entry.layout->dtype);
  for (const int32_t size : entry.layout->sizes) bytes *= static_cast<uint64_t>(size);
  if (bytes != entry.data.size()) {
    return malformed(file, what + ": its layout needs " + counted(bytes, "byte") +
                               ", and its segment has " + std::to_string(entry.data.size()));
  }
  return {};
}

}  // namespace

Result<Weights> decode_weights(FileBytes file) {
  PTERON_ASSIGN(const Container container, read_weights_container(file));
  flatbuffers::Verifier::Options options;
  options.max_depth = 16;
  options.max_tables = static_cast<flatbuffers::uoffset_t>(
      std::min<size_t>(container.flatbuffer.size() / 4 + 64, UINT32_MAX));
  const auto* data = reinterpret_cast<const uint8_t*>(container.flatbuffer.data());
  if (container.flatbuffer.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
    return malformed(file, "the FlatBuffers part is over 2 GiB, more than FlatBuffers allows");
  }
  flatbuffers::Verifier verifier(data, container.flatbuffer.size(), options);
  if (!fb_tensor::VerifyFlatTensorBuffer(verifier)) {
    return malformed(file, "the weights file is damaged: FlatBuffers' verifier refuses it");
  }
  const fb_tensor::FlatTensor* root = fb_tensor::GetFlatTensor(data);
  Weights weights;
  weights.storage = file.storage;
  weights.file = file.bytes;
  weights.origin = file.origin;
  Budget budget(container.flatbuffer.size());
  std::set<std::string_view> keys;
  const size_t segments = root->segments() ? root->segments()->size() : 0;
  for (uint32_t i = 0; i < (root->named_data() ? root->named_data()->size() : 0); ++i) {
    const fb_tensor::NamedData* in = root->named_data()->Get(i);
    std::string what = "weights entry " + std::to_string(i);
    if (in->key() == nullptr || in->key()->size() == 0)
      return malformed(file, what + " has no key");
    const std::string_view key(in->key()->c_str(), in->key()->size());
    if (!budget.take(64 + key.size())) {
      return malformed(file, "it refers to the same tables so often that it would fill memory");
    }
    const std::string wrong_key = why_no_name(key);
    if (!wrong_key.empty()) return malformed(file, what + ": its key " + wrong_key);
    what += " (" + quoted(key) + ")";
    if (!keys.insert(key).second) return malformed(file, what + " has the key of another entry");
    if (in->segment_index() >= segments) {
      return malformed(file, what + " is in segment " + std::to_string(in->segment_index()) +
                                 ", but the file has " + std::to_string(segments));
    }
    const fb_tensor::DataSegment* segment = root->segments()->Get(in->segment_index());
    WeightsEntry entry{std::string(key), {}, {}};
    PTERON_ASSIGN(entry.data,
                  segment_bytes(file, container, segment->offset(), segment->size(), what));
    if (in->tensor_layout() != nullptr) {
      PTERON_ASSIGN(entry.layout, decode_layout(file, *in->tensor_layout(), what));
      PTERON_TRY(check_size(file, entry, what));
    }
    weights.entries.push_back(std::move(entry));
  }
  return weights;
}

}  // namespace pteron
