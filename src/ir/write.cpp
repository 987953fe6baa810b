#include "ir/write.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace pteron::ir {
namespace {

// Of a port, and of a constant's or parameter's element.
struct TypeNames {
  const char* port;
  const char* element;
};
TypeNames type_names(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return {"BOOL", "boolean"};
    case DType::UInt8:
      return {"U8", "u8"};
    case DType::Int8:
      return {"I8", "i8"};
    case DType::Int16:
      return {"I16", "i16"};
    case DType::Int32:
      return {"I32", "i32"};
    case DType::Int64:
      return {"I64", "i64"};
    case DType::UInt16:
      return {"U16", "u16"};
    case DType::UInt32:
      return {"U32", "u32"};
    case DType::UInt64:
      return {"U64", "u64"};
    case DType::Float16:
      return {"FP16", "f16"};
    case DType::BFloat16:
      return {"BF16", "bf16"};
    case DType::Float64:
      return {"FP64", "f64"};
    default:
      return {"FP32", "f32"};
  }
}

// For an attribute between double quotes. Names come from files.
void append_escaped(std::string& text, std::string_view raw) {
  for (const char c : raw) {
    switch (c) {
      case '&':
        text += "&amp;";
        break;
      case '<':
        text += "&lt;";
        break;
      case '>':
        text += "&gt;";
        break;
      case '"':
        text += "&quot;";
        break;
      default:
        text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
}

class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph), needed_(graph.needed()) {}

  Model write(const std::string& name) {
    find_weights();
    text_ = "<?xml version=\"1.0\"?>\n<net version=\"11\" name=\"";
    append_escaped(text_, name);
    text_ += "\">\n<layers>\n";
    const auto& nodes = graph_.nodes();
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      if (needed_[i]) layer(i, nodes[i]);
    }
    const auto& results = graph_.results();
    for (size_t i = 0; i < results.size(); ++i)
      result(static_cast<uint32_t>(nodes.size() + i), i, results[i]);
    text_ += "</layers>\n<edges>\n" + edges_ + "</edges>\n</net>\n";
    return {std::move(text_), low_, static_cast<size_t>(high_ - low_), {}};
  }

 private:
  void find_weights() {
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Bytes data = graph_.nodes()[i].data;
      if (!needed_[i] || data.empty()) continue;
      if (low_ == nullptr || data.data() < low_) low_ = data.data();
      if (high_ == nullptr || data.data() + data.size() > high_) high_ = data.data() + data.size();
    }
    // OpenVINO reads no constant, not even one without elements, where it is given no memory.
    if (low_ == nullptr) low_ = &kNothing, high_ = low_ + 1;
  }

  void open(uint32_t id, std::string_view name, std::string_view type, std::string_view opset) {
    text_ += "<layer id=\"" + std::to_string(id) + "\" name=\"";
    append_escaped(text_, name);
    text_ += '#' + std::to_string(id) + "\" type=\"";
    text_ += type;
    text_ += "\" version=\"";
    text_ += opset;
    text_ += "\">";
  }
  void attribute(std::string_view key, std::string_view value) {
    text_ += ' ';
    text_ += key;
    text_ += "=\"";
    append_escaped(text_, value);
    text_ += '"';
  }
  void input(uint32_t id, size_t port, Output from) {
    text_ += "<port id=\"" + std::to_string(port) + "\"/>";
    const Node& source = graph_.nodes()[from.node];
    edges_ += "<edge from-layer=\"" + std::to_string(from.node) + "\" from-port=\"" +
              std::to_string(source.inputs.size() + from.port) + "\" to-layer=\"" +
              std::to_string(id) + "\" to-port=\"" + std::to_string(port) + "\"/>\n";
  }

  void layer(uint32_t id, const Node& node) {
    open(id, node.name, node.operation, node.opset);
    const bool is_constant = node.operation == "Const";
    if (is_constant || node.operation == "Parameter") {
      text_ += "<data";
      attribute("element_type", type_names(node.outputs[0]).element);
      attribute("shape", shape_text(node.shape));
      if (is_constant) {
        attribute("offset", std::to_string(node.data.empty() ? 0 : node.data.data() - low_));
        attribute("size", std::to_string(node.data.size()));
      }
      text_ += "/>";
    } else if (!node.attributes.empty()) {
      text_ += "<data";
      for (const auto& [key, value] : node.attributes) attribute(key, value);
      text_ += "/>";
    }
    if (!node.inputs.empty()) {
      text_ += "<input>";
      for (size_t i = 0; i < node.inputs.size(); ++i) input(id, i, node.inputs[i]);
      text_ += "</input>";
    }
    text_ += "<output>";
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      text_ += "<port id=\"" + std::to_string(node.inputs.size() + i) + "\" precision=\"" +
               type_names(node.outputs[i]).port + "\"";
      // A parameter's name as OpenVINO's tensors have it.
      if (node.operation == "Parameter")
        attribute("names", "input" + std::to_string(parameters_++));
      text_ += "/>";
    }
    text_ += "</output></layer>\n";
  }

  void result(uint32_t id, size_t index, Output from) {
    open(id, "output" + std::to_string(index), "Result", "opset1");
    text_ += "<input>";
    input(id, 0, from);
    text_ += "</input></layer>\n";
  }

  static std::string shape_text(const Shape& shape) {
    std::string text;
    for (const int64_t size : shape) {
      if (!text.empty()) text += ',';
      text += size == kAnySize ? "?" : std::to_string(size);
    }
    return text;
  }

  static constexpr std::byte kNothing{};

  const Graph& graph_;
  const std::vector<bool> needed_;
  const std::byte* low_ = nullptr;
  const std::byte* high_ = nullptr;
  size_t parameters_ = 0;
  std::string text_;
  std::string edges_;
};

}  // namespace

Model write(Graph graph, const std::string& name) {
  Model model = Writer(graph).write(name);
  model.copies = graph.take_copies();
  return model;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "0";
  value = std::clamp(value, -static_cast<double>(std::numeric_limits<float>::max()),
                     static_cast<double>(std::numeric_limits<float>::max()));
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

std::string list_text(std::span<const int64_t> values) {
  std::string text;
  for (const int64_t value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

}  // namespace pteron::ir
