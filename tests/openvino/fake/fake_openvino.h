// A stand-in for OpenVINO's C library: the same functions, with behaviour that a test scripts.
//
// It shows what a healthy OpenVINO on a CPU cannot: failures with any status and text, old
// versions, absent functions, GPU and NPU devices, devices that refuse a blob, and whether all was
// freed. It links nothing of ours and is loaded like the real one; a test finds the functions below
// in it by name, or sets FAKE_OPENVINO_SCRIPT to the path of a script, which is read at the first
// call.
//
// A script is text, a command a line; '#' starts a comment.
//   version TEXT                 What ov_get_openvino_version says. Default 2025.4.1-0-fake.
//   device NAME CAPABILITIES FULL NAME
//                                Adds or replaces a device; capabilities are joined by commas.
//                                There is a CPU with BF16,FP32,INT8,EXPORT_IMPORT at first.
//   broken NAME TEXT             A device whose plugin does not load, for the reason TEXT.
//   remove NAME
//   fail FUNCTION STATUS SKIP TIMES TEXT
//                                After SKIP good calls the function fails TIMES times (0: always).
//   refuse DEVICE TEXT           Imports fail there with TEXT.
//   property DEVICE KEY VALUES   A further property; VALUES, joined by '|', are allowed ("*": any,
//                                "#": a number from 0 on), the first is the default.
//   without DEVICE KEY           The device does not know the property.
//   readonly DEVICE KEY VALUE    The same, but it cannot be set.
//   borrow-blobs                 As OpenVINO 2026.4: import does not copy the blob, infer reads it.
//   delay MILLISECONDS           What one inference takes.
//
// Properties behave as OpenVINO's: until something loads a device's plugin (reading a property, an
// import, a compilation), setting one always succeeds; a wrong one then makes that load fail, each
// time. Afterwards a wrong one is refused at once. AUTO, MULTI, BATCH and HETERO import nothing and
// have no precision.
//
// A model, as a blob to import or as IR text to read, is text too. Its first line is FAKEBLOB.
//   FAKEBLOB
//   input f32 ?,3 x
//   output f32 ?,3 y
//   op add_one
// An input or output has an element type (bool bf16 f16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64),
// dimensions ("4", "?" or "2..8" each; "scalar" is rank 0, "..." any rank) and a name. There is one
// operation:
//   op copy        Output i is input i: its bytes, its shape.
//   op pass        Output i is input i, one tensor: to set one is to set the other.
//   op add_one     The same as copy, plus one in the element's type (f16, bf16: the bits plus one).
//   op add         Output 0 is input 0 plus input 1, of one shape.
//   op fill 5,3 7  Output 0 has this shape and this value everywhere, whatever comes in.
//   op count       Output 0 is a scalar i64: how often this request has run.
//   op fail TEXT   Inference fails with TEXT.
// Anything else is refused, as a damaged blob is; no text makes the fake crash or allocate over 64
// MB.
#pragma once

#include <cstddef>

extern "C" {

// Forgets all scripts, records and counts. No object of the fake's may be alive.
using fake_reset_t = void();

// Runs a script. Null, or what is wrong with it; valid until the next call.
using fake_script_t = const char*(const char* text);

// "live": objects and strings not yet freed. "live core", "live model", "live compiled_model",
// "live infer_request", "live tensor", "live port", "live shape", "live partial_shape",
// "live string", "live devices", "live profile", "live version": of one kind.
// "bad_frees": frees and uses of what was not alive. "overlaps": uses of a request while it ran.
// The name of a function: how often it was called. Anything else: -1.
using fake_count_t = long long(const char* what);

// What happened, a line each: "core", "set CPU KEY=VALUE", "import CPU 120", "read 90", "compile
// CPU", "infer". Valid until the next call.
using fake_log_t = const char*();

}  // extern "C"
