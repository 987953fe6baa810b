#include "ir/graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ir/write.h"

namespace pteron::ir {
namespace {

bool has(const Model& model, const std::string& text) {
  return model.text.find(text) != std::string::npos;
}

TEST(Graph, LeavesOutWhatNoResultNeeds) {
  Graph graph;
  const Output x = graph.parameter(DType::Float32, {2}, "x");
  const Output unused = graph.parameter(DType::Float32, {2}, "unused");
  const Output y = graph.add("ReLU", "opset1", {x}, {}, DType::Float32);
  graph.add("Exp", "opset1", {unused}, {}, DType::Float32);
  graph.result(y);
  EXPECT_EQ(graph.needed(), (std::vector<bool>{true, false, true, false}));
  const Model model = write(std::move(graph), "it");
  EXPECT_TRUE(has(model, "\"ReLU\""));
  EXPECT_FALSE(has(model, "\"Exp\""));
  EXPECT_FALSE(has(model, "unused"));
}

TEST(Graph, ConstantsAreOffsetsFromTheLowest) {
  const std::vector<float> memory(8, 1.0f);
  const auto bytes = std::as_bytes(std::span(memory));
  Graph graph;
  const Output high = graph.constant(DType::Float32, {2}, bytes.subspan(24, 8));
  const Output low = graph.constant(DType::Float32, {2}, bytes.subspan(4, 8));
  EXPECT_EQ(graph.constant(DType::Float32, {2}, bytes.subspan(24, 8)), high);
  graph.result(graph.add("Add", "opset1", {high, low}, {}, DType::Float32));
  const Model model = write(std::move(graph), "it");
  EXPECT_EQ(model.weights, bytes.data() + 4);
  EXPECT_EQ(model.weights_size, 28u);
  EXPECT_TRUE(has(model, "offset=\"20\" size=\"8\"")) << model.text;
  EXPECT_TRUE(has(model, "offset=\"0\" size=\"8\"")) << model.text;
}

TEST(Graph, CopiesOutliveIt) {
  Model model;
  {
    Graph graph;
    const std::vector<int64_t> numbers{1, 2, 3};
    graph.result(graph.numbers<int64_t>(DType::Int64, numbers));
    model = write(std::move(graph), "it");
  }
  ASSERT_EQ(model.copies.size(), 1u);
  EXPECT_EQ(model.weights, model.copies[0].data());
  EXPECT_EQ(model.weights_size, 24u);
}

// Names come from files.
TEST(Write, EscapesNames) {
  Graph graph;
  graph.set_name("a\"<&>\n\x01");
  graph.result(graph.add("ReLU", "opset1", {graph.parameter(DType::Float32, {kAnySize, 3}, "\"")},
                         {{"mode", "<"}}, DType::Float32));
  const Model model = write(std::move(graph), "\"&");
  EXPECT_TRUE(has(model, "name=\"&quot;&amp;\"")) << model.text;
  EXPECT_TRUE(has(model, "a&quot;&lt;&amp;&gt;  ")) << model.text;
  EXPECT_TRUE(has(model, "mode=\"&lt;\"")) << model.text;
  EXPECT_TRUE(has(model, "shape=\"?,3\"")) << model.text;
}

TEST(Write, NumbersAreFiniteAndOfNoLocale) {
  EXPECT_EQ(number_text(0.5), "0.5");
  EXPECT_EQ(number_text(HUGE_VAL), number_text(1e300));
  EXPECT_EQ(number_text(-HUGE_VAL)[0], '-');
  EXPECT_EQ(number_text(HUGE_VAL).find("inf"), std::string::npos);
  EXPECT_EQ(list_text(std::vector<int64_t>{1, -2}), "1,-2");
  EXPECT_EQ(list_text({}), "");
}

}  // namespace
}  // namespace pteron::ir
