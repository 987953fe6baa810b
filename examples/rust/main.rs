// Runs a program's first method on zeros, from Rust by the C interface, without other crates.
//
// usage: main MODEL.pte [OPENVINO]
// rustc main.rs -L <pteron>/lib     (for x86_64-pc-windows-msvc it takes pteron.lib, for -gnu libpteron.dll.a)
use std::ffi::{c_void, CStr, CString};
use std::os::raw::{c_char, c_int};
use std::ptr;

// Only what this program calls; pteron.h has the rest.
#[repr(C)]
struct Options {
    struct_size: usize,
    device: *const c_char,
    openvino: *const c_char,
    cache_dir: *const c_char,
    config_keys: *const *const c_char,
    config_values: *const *const c_char,
    config_count: usize,
    weights: *const *const c_char,
    weights_count: usize,
    precision: i32,
    hint: i32,
    threads: i32,
    copy_file: i32,
    profile: i32,
    reserved: i32,
    memory_limit: u64,
    instruction_limit: u64,
    allocator: *const c_void,
    thread_pool: *const c_void,
    operators: *const c_void,
    operator_count: usize,
    delegates: *const c_void,
    delegate_count: usize,
    time_limit: f64,
}

// pteron_value with the tensor of its union, which is the union's largest member.
#[repr(C)]
struct Value {
    kind: i32,
    reserved: i32,
    data: *mut c_void,
    shape: *const i64,
    strides: *const i64,
    rank: i32,
    dtype: i32,
}

#[repr(C)]
struct Spec {
    struct_size: usize,
    name: *const c_char,
    shape: *const i64,
    dim_order: *const u8,
    kind: i32,
    dtype: i32,
    rank: i32,
    dynamic: i32,
}

enum Error {}
enum Program {}
enum Method {}

const KIND_TENSOR: i32 = 1;
const FLOAT32: i32 = 6;

#[link(name = "pteron")]
extern "C" {
    fn pteron_version() -> *const c_char;
    fn pteron_dtype_size(dtype: c_int) -> usize;
    fn pteron_error_message(error: *const Error) -> *const c_char;
    fn pteron_error_free(error: *mut Error);
    fn pteron_program_open(path: *const c_char, options: *const Options, program: *mut *mut Program, error: *mut *mut Error) -> c_int;
    fn pteron_program_free(program: *mut Program);
    fn pteron_method_load(program: *mut Program, name: *const c_char, options: *const c_void, method: *mut *mut Method, error: *mut *mut Error) -> c_int;
    fn pteron_method_free(method: *mut Method);
    fn pteron_method_input_count(method: *const Method) -> usize;
    fn pteron_method_output_count(method: *const Method) -> usize;
    fn pteron_method_input_spec(method: *const Method, index: usize, spec: *mut Spec, error: *mut *mut Error) -> c_int;
    fn pteron_method_run(method: *mut Method, inputs: *const Value, count: usize, error: *mut *mut Error) -> c_int;
    fn pteron_method_get_output(method: *mut Method, index: usize, value: *mut Value, error: *mut *mut Error) -> c_int;
}

fn text(from: *const c_char) -> String {
    unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned()
}

// Calls a function of the library, whose error comes last.
fn call(function: impl FnOnce(*mut *mut Error) -> c_int) -> Result<(), String> {
    let mut error = ptr::null_mut();
    if function(&mut error) == 0 {
        return Ok(());
    }
    let message = text(unsafe { pteron_error_message(error) });
    unsafe { pteron_error_free(error) };
    Err(message)
}

// Handles are freed when they go; a method before its program, in this order of declaration.
struct Loaded {
    method: *mut Method,
    program: *mut Program,
}
impl Drop for Loaded {
    fn drop(&mut self) {
        unsafe {
            pteron_method_free(self.method);
            pteron_program_free(self.program);
        }
    }
}

fn run(path: &str, openvino: Option<&str>) -> Result<(), String> {
    let path = CString::new(path).map_err(|e| e.to_string())?;
    let openvino = CString::new(openvino.unwrap_or("")).map_err(|e| e.to_string())?;
    // Zero means the default everywhere.
    let mut options: Options = unsafe { std::mem::zeroed() };
    options.struct_size = std::mem::size_of::<Options>();
    if !openvino.as_bytes().is_empty() {
        options.openvino = openvino.as_ptr();
    }
    let mut loaded = Loaded { method: ptr::null_mut(), program: ptr::null_mut() };
    call(|e| unsafe { pteron_program_open(path.as_ptr(), &options, &mut loaded.program, e) })?;
    call(|e| unsafe { pteron_method_load(loaded.program, ptr::null(), ptr::null(), &mut loaded.method, e) })?;
    let method = loaded.method;

    let mut arrays: Vec<Vec<u64>> = Vec::new(); // As 64-bit numbers, so that each is aligned.
    let mut inputs = Vec::new();
    for i in 0..unsafe { pteron_method_input_count(method) } {
        let mut spec: Spec = unsafe { std::mem::zeroed() };
        spec.struct_size = std::mem::size_of::<Spec>();
        call(|e| unsafe { pteron_method_input_spec(method, i, &mut spec, e) })?;
        if spec.kind != KIND_TENSOR {
            return Err(format!("input {} is no tensor", i));
        }
        let mut size = unsafe { pteron_dtype_size(spec.dtype) };
        for k in 0..spec.rank as usize {
            size *= unsafe { *spec.shape.add(k) } as usize;
        }
        arrays.push(vec![0; (size + 7) / 8]);
        let data = arrays[i].as_mut_ptr() as *mut c_void;
        // The shape is the method's own, which lives as long as it.
        inputs.push(Value { kind: KIND_TENSOR, reserved: 0, data, shape: spec.shape, strides: ptr::null(), rank: spec.rank, dtype: spec.dtype });
    }
    call(|e| unsafe { pteron_method_run(method, inputs.as_ptr(), inputs.len(), e) })?;

    for i in 0..unsafe { pteron_method_output_count(method) } {
        let mut output: Value = unsafe { std::mem::zeroed() };
        call(|e| unsafe { pteron_method_get_output(method, i, &mut output, e) })?;
        let shape: Vec<i64> = (0..output.rank as usize).map(|k| unsafe { *output.shape.add(k) }).collect();
        if output.dtype == FLOAT32 && shape.iter().all(|&n| n > 0) {
            println!("output {}: {:?} {} ...", i, shape, unsafe { *(output.data as *const f32) });
        } else {
            println!("output {}: {:?}", i, shape);
        }
    }
    println!("pteron {}", text(unsafe { pteron_version() }));
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() < 2 {
        eprintln!("usage: main MODEL.pte [OPENVINO]");
        std::process::exit(2);
    }
    if let Err(message) = run(&arguments[1], arguments.get(2).map(String::as_str)) {
        eprintln!("{}", message);
        std::process::exit(1);
    }
}
