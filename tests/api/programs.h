// Small programs for tests, as the bytes of .pte files. Most of their operators and delegates are
// none of the library's: a test brings them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace programs {

using File = std::vector<std::byte>;

// forward(x, y) = x + y, by aten::add.out; float32 [2, 3].
File add();
// The same, in planned memory of this size.
File planning(uint64_t bytes);
// The same with the dynamic shape [<=4, 3].
File add_dynamic();
// forward() = rand(3), by aten::rand.out; float32.
File random();
// forward(x) = test::op.out(x): float32 [<=4, 3] to float32 [<=4, 3], signature "T>T".
File one_operator();
// Methods "first" and "second", each forward(x) = test::accumulate.out(state, x): signature "MT>T",
// float32 [3]. The state begins as 1, 2, 3 and lies in memory that methods may share.
File state();
// forward(x: float32 [2]) calls test::kinds.out with an argument of every kind; see the source for
// their order. Outputs: a tensor float32 [2], an int, a double and a bool.
File kinds();
constexpr const char* kKindsSignature = "TtSsIDBLFQVvG>TIDB";
// forward(x) by the delegate "TestBackend", float32 [<=4, 3] to the same; the payload is the text
// "payload", and there is the compile spec mode=fast. Method "other" has two more such calls, of
// the same payload.
File delegated();
// forward(x) by OpenVINO, float32 [2, 3] to the same; `blob` is what it imports, `devices` the
// values of as many compile specs "device".
File openvino(const std::string& blob, const std::vector<std::string>& devices = {"CPU"});
// forward(x) needs test::first.out, test::second.out and the delegate "TestBackend".
File lacking();
// forward(x) = x; complex64 [2]. Without instructions.
File complex_numbers();
// forward(x) = x, 7, 0.5, true, "text"; float32 [3]. Without instructions.
File results();
// forward(x) = x, without instructions and with the scalar inputs 3 (int), 2.5 (double), true, none
// and "text" after x; float32 [3].
File scalars();

}  // namespace programs
