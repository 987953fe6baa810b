#include <algorithm>
#include <set>

#include "base/checked.h"
#include "flat_tensor_generated.h"
#include "program/container.h"
#include "program/decode.h"

namespace pteron {
namespace {

Result<WeightsEntry::Layout> decode_layout(const FileBytes& file, const fb_tensor::TensorLayout& in,
                                           const std::string& what) {
  const auto dtype = dtype_from_number(in.scalar_type());
  if (!dtype) {
    return malformed(file,
                     what + ": dtype number " + std::to_string(in.scalar_type()) + " is unknown");
  }
  const size_t rank = in.sizes() ? in.sizes()->size() : 0;
  const size_t order = in.dim_order() ? in.dim_order()->size() : 0;
  if (rank > kMaxRank || order != rank) {
    return malformed(file, what + ": rank " + std::to_string(rank) + " with a dim_order of " +
                               std::to_string(order) + "; both are the same and at most " +
                               std::to_string(kMaxRank));
  }
  WeightsEntry::Layout layout{*dtype, {}, {}};
  uint32_t seen = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    const int32_t size = in.sizes()->Get(i);
    const uint8_t dim = in.dim_order()->Get(i);
    if (size < 0) return malformed(file, what + ": a negative size");
    if (dim >= rank || (seen & (1u << dim)) != 0) {
      return malformed(file, what + ": its dim_order is not a permutation of its dimensions");
    }
    seen |= 1u << dim;
    layout.sizes.push_back(size);
    layout.dim_order.push_back(dim);
  }
  return layout;
}

Result<void> check_size(const FileBytes& file, const WeightsEntry& entry, const std::string& what) {
  uint64_t bytes = dtype_size(entry.layout->dtype);
  for (const int32_t size : entry.layout->sizes) {
    if (!checked_mul(bytes, static_cast<uint64_t>(size), bytes)) bytes = UINT64_MAX;
    if (bytes == 0) break;
  }
  if (bytes != entry.data.size()) {
    return malformed(file, what + ": its layout needs " + std::to_string(bytes) +
                               " bytes, and its segment has " + std::to_string(entry.data.size()));
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
    const std::string what = "weights entry " + std::to_string(i);
    if (in->key() == nullptr || in->key()->size() == 0)
      return malformed(file, what + " has no key");
    const std::string_view key(in->key()->c_str(), in->key()->size());
    if (!budget.take(64 + key.size())) {
      return malformed(file, "it refers to the same tables so often that it would fill memory");
    }
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
