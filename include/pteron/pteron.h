/* Pteron's C interface: load an ExecuTorch program (.pte), run its methods.
 *
 * Conventions, for every function here:
 *
 * 1. A function that can fail returns a pteron_status and takes a pteron_error** last. On failure
 * it stores an error there, unless the pointer is null; free it with pteron_error_free. On success
 *    it leaves *error alone. Outputs are written on success only.
 * 2. Handles are opaque. *_free accepts null. Whatever the library allocates, the library frees:
 *    never pass its memory to free().
 * 3. Every option struct starts with struct_size; fill a struct with PTERON_INIT(type), which sets
 *    it and zeroes the rest. Zero always means the default. Later versions add fields at the end.
 * 4. Strings are UTF-8 and end with NUL; paths too, on every system.
 * 5. A pteron_program is immutable: any thread may use it. A pteron_method belongs to one thread at
 * a time; a call that finds it in use returns PTERON_BUSY. Methods of one program run in parallel.
 *    Methods that share state (shares_state_with) count as one method in this respect.
 * 6. After a failed call, the program and the method still work. A run that fails half-way may have
 *    changed some state buffers already (see pteron_method_get_state); nothing is rolled back.
 * 7. The library prints nothing, never ends the process, and lets no C++ exception out.
 *
 * A first program:
 *
 *   pteron_program* program = NULL; pteron_method* method = NULL;
 *   pteron_program_open("model.pte", NULL, &program, NULL);
 *   pteron_method_load(program, "forward", NULL, &method, NULL);
 *   float x[3] = {1, 2, 3}; int64_t shape[1] = {3};
 *   pteron_value in = pteron_tensor_value(x, PTERON_FLOAT32, 1, shape), out;
 *   pteron_method_run(method, &in, 1, NULL);
 *   pteron_method_get_output(method, 0, &out, NULL);  // out.as.tensor.data, .shape, .dtype
 */
#ifndef PTERON_PTERON_H
#define PTERON_PTERON_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(PTERON_BUILDING)
#define PTERON_API __declspec(dllexport)
#elif defined(_WIN32) && !defined(PTERON_STATIC)
#define PTERON_API __declspec(dllimport)
#elif defined(__GNUC__)
#define PTERON_API __attribute__((visibility("default")))
#else
#define PTERON_API
#endif

#ifdef __cplusplus
#define PTERON_INIT(type)             \
  ([] {                               \
    type value{};                     \
    value.struct_size = sizeof(type); \
    return value;                     \
  }())
extern "C" {
#else
#define PTERON_INIT(type) ((type){.struct_size = sizeof(type)})
#endif

/* The version of this interface: it grows when something is added, and nothing is ever taken away.
 */
#define PTERON_ABI_VERSION 1

typedef enum pteron_status {
  PTERON_OK = 0,
  PTERON_INVALID_ARGUMENT = 1, /* the caller's data is wrong: index, dtype, shape, option, or an
                                  input that an operator of the program refuses */
  PTERON_IO = 2,               /* a file cannot be read */
  PTERON_MALFORMED = 3,        /* the program or weights file is broken, or is no such file */
  PTERON_MISSING =
      4, /* an operator, delegate, weights key, OpenVINO, symbol, or device is not there */
  PTERON_UNSUPPORTED = 5, /* the file or device asks for something that this library does not do */
  PTERON_RESOURCE_LIMIT = 6, /* out of memory, or over a limit set in the options */
  PTERON_FAILED = 7,         /* a delegate or an application's operator failed while it ran */
  PTERON_BUSY = 8,           /* the method is in use by another thread, or has been started */
  PTERON_INTERNAL = 9,       /* a bug in this library */
  PTERON_CANCELLED = 10      /* the run was cancelled, or took longer than its time_limit */
} pteron_status;

/* Element types; the numbers are ExecuTorch's ScalarType. */
typedef enum pteron_dtype {
  PTERON_UINT8 = 0,
  PTERON_INT8 = 1,
  PTERON_INT16 = 2,
  PTERON_INT32 = 3,
  PTERON_INT64 = 4,
  PTERON_FLOAT16 = 5,
  PTERON_FLOAT32 = 6,
  PTERON_FLOAT64 = 7,
  PTERON_COMPLEX64 = 9, /* two float32 */
  PTERON_COMPLEX128 = 10,
  PTERON_BOOL = 11,
  PTERON_QINT8 = 12,
  PTERON_QUINT8 = 13,
  PTERON_QINT32 = 14,
  PTERON_BFLOAT16 = 15,
  PTERON_QUINT4X2 = 16,
  PTERON_QUINT2X4 = 17,
  PTERON_BITS16 = 22,
  PTERON_FLOAT8_E5M2 = 23,
  PTERON_FLOAT8_E4M3FN = 24,
  PTERON_FLOAT8_E5M2FNUZ = 25,
  PTERON_FLOAT8_E4M3FNUZ = 26,
  PTERON_UINT16 = 27,
  PTERON_UINT32 = 28,
  PTERON_UINT64 = 29
} pteron_dtype;

typedef enum pteron_kind {
  PTERON_KIND_NONE = 0,
  PTERON_KIND_TENSOR = 1,
  PTERON_KIND_INT = 2,
  PTERON_KIND_DOUBLE = 3,
  PTERON_KIND_BOOL = 4,
  PTERON_KIND_STRING = 5,
  PTERON_KIND_INT_LIST = 6,
  PTERON_KIND_DOUBLE_LIST = 7,
  PTERON_KIND_BOOL_LIST = 8,
  PTERON_KIND_TENSOR_LIST = 9 /* also the optional one: an absent tensor has kind NONE */
} pteron_kind;

#define PTERON_MAX_RANK 16

/* A view of an array. shape has rank entries. strides has rank entries, in bytes (as NumPy's; they
 * may be negative or zero), or is null for a dense row-major array. data points at element [0, 0,
 * ...]. It may be null if the array has no elements. */
typedef struct pteron_tensor {
  void* data;
  const int64_t* shape;
  const int64_t* strides;
  int32_t rank;
  int32_t dtype; /* a pteron_dtype */
} pteron_tensor;

typedef struct pteron_value pteron_value;
struct pteron_value {
  int32_t kind; /* a pteron_kind */
  int32_t reserved;
  union {
    pteron_tensor tensor;
    int64_t integer;
    double real;
    uint8_t boolean; /* 0 or 1 */
    const char* string;
    struct {
      const void* items; /* int64_t, double, uint8_t or pteron_value, by kind */
      size_t count;
    } list;
  } as;
};

/* A dense row-major array as a value. */
static inline pteron_value pteron_tensor_value(void* data, pteron_dtype dtype, int32_t rank,
                                               const int64_t* shape) {
  pteron_value value;
  value.kind = PTERON_KIND_TENSOR;
  value.reserved = 0;
  value.as.tensor.data = data;
  value.as.tensor.shape = shape;
  value.as.tensor.strides = NULL; /* NOLINT(modernize-use-nullptr): C too. */
  value.as.tensor.rank = rank;
  value.as.tensor.dtype = (int32_t)dtype;
  return value;
}

typedef struct pteron_error pteron_error;
typedef struct pteron_program pteron_program;
typedef struct pteron_method pteron_method;
typedef struct pteron_call pteron_call;

/* ---- Versions, errors, strings ------------------------------------------------------------- */

PTERON_API uint32_t pteron_abi_version(void); /* PTERON_ABI_VERSION of the library in use */
PTERON_API const char* pteron_version(void);  /* "0.1.0" */
PTERON_API const char* pteron_dtype_name(
    pteron_dtype dtype);                                 /* "float32"; "unknown" for no dtype */
PTERON_API size_t pteron_dtype_size(pteron_dtype dtype); /* bytes; 0 for no dtype */

PTERON_API pteron_status pteron_error_status(const pteron_error* error);
/* One line: what, where, what was wanted, what to do. Valid until the error is freed. */
PTERON_API const char* pteron_error_message(const pteron_error* error);
PTERON_API void pteron_error_free(pteron_error* error);
/* Frees a string that a function here returned through a char**. */
PTERON_API void pteron_string_free(char* string);

/* ---- Options ------------------------------------------------------------------------------- */

typedef enum pteron_precision {
  PTERON_PRECISION_PROGRAM =
      0, /* the program's own: f32 stays f32, nothing is quantized that was not */
  PTERON_PRECISION_FAST = 1, /* whatever the device prefers */
  PTERON_PRECISION_F32 = 2,
  PTERON_PRECISION_F16 = 3,
  PTERON_PRECISION_BF16 = 4
} pteron_precision;

/* Whether a program's own operators are compiled for OpenVINO: docs/acceleration.md. */
typedef enum pteron_accelerate {
  PTERON_ACCELERATE_AUTO = 0, /* where it repays the time that compiling takes */
  PTERON_ACCELERATE_ON = 1,   /* wherever it is possible */
  PTERON_ACCELERATE_OFF = 2   /* nowhere: kernels run them */
} pteron_accelerate;

typedef enum pteron_hint { PTERON_HINT_LATENCY = 0, PTERON_HINT_THROUGHPUT = 1 } pteron_hint;

/* The application's memory: returns at least size bytes aligned to alignment, or null. Called from
 * any thread. Used for planned memory and temporary buffers, not for small bookkeeping. */
typedef struct pteron_allocator {
  size_t struct_size;
  void* context;
  void* (*allocate)(void* context, size_t size, size_t alignment);
  void (*deallocate)(void* context, void* data, size_t size);
} pteron_allocator;

/* The application's threads: calls body(argument, begin, end) on ranges that together cover
 * [0, count) once, each at least grain long but the last, and returns when all are done. */
typedef struct pteron_threads {
  size_t struct_size;
  void* context;
  void (*parallel_for)(void* context, size_t count, size_t grain,
                       void (*body)(void* argument, size_t begin, size_t end), void* argument);
} pteron_threads;

/* An operator of the application's. signature says what it takes, a letter an argument, outputs
 * after '>': T tensor, S scalar (int, double or bool), I int, D double or int, B bool, L list of
 * ints, F list of doubles, Q list of bools, V list of tensors, v list of tensors or nones, G
 * string; t, s, i, d, b, l, f, g: the same, or none; M a tensor that is read and changed in place.
 * Example: "TTS>T". Kinds are checked when a method is loaded; dtypes and shapes are the operator's
 * affair. An operator of the library's with the same name is replaced.
 *
 * run is called on the thread that executes the method. It returns PTERON_OK, or another status,
 * after pteron_call_fail if there is something to say. It must not use the method that called it.
 */
typedef struct pteron_operator {
  size_t struct_size;
  const char* name; /* "my_ops::scale.out" */
  const char* signature;
  void* context;
  pteron_status (*run)(void* context, pteron_call* call);
} pteron_operator;

/* A delegate of the application's, for the programs that name its id. init is called once for each
 * delegate call of a loaded method: it may look at the call's arguments (their data is not there
 * yet), and says how many of them are inputs, which come first; the rest are outputs. payload and
 * the compile specs stay where they are while the program or one of its methods lives. It may fail
 * with pteron_call_fail. destroy, if not null, is called once for each handle. init and destroy may
 * be called from any thread that loads or frees a method. */
typedef struct pteron_delegate {
  size_t struct_size;
  const char* id; /* "MyBackend" */
  void* context;
  pteron_status (*init)(void* context, pteron_call* call, const void* payload, size_t payload_size,
                        size_t spec_count, const char* const* spec_keys,
                        const void* const* spec_values, const size_t* spec_sizes, void** handle,
                        size_t* input_count);
  pteron_status (*run)(void* context, void* handle, pteron_call* call);
  void (*destroy)(void* context, void* handle);
} pteron_delegate;

typedef struct pteron_program_options {
  size_t struct_size;
  const char* device; /* "CPU", "GPU.1", "NPU", "none" (no OpenVINO at all). Null: what the program
                         says, else CPU */
  const char* openvino;  /* OpenVINO's C library, or a folder that has it. Null: searched for, see
                            docs/finding_openvino.md */
  const char* cache_dir; /* OpenVINO's model cache. Null: none */
  const char* const* config_keys; /* OpenVINO properties for the device, with config_values */
  const char* const* config_values;
  size_t config_count;
  const char* const* weights; /* .ptd files */
  size_t weights_count;
  int32_t precision;  /* a pteron_precision */
  int32_t hint;       /* a pteron_hint */
  int32_t threads;    /* 0: the cores that this process may use */
  int32_t copy_file;  /* 1: read the files into memory instead of mapping them: safe if they change
                         on disk */
  int32_t profile;    /* 1: methods can be profiled; costs a little at each run */
  int32_t accelerate; /* a pteron_accelerate */
  /* the most planned memory per method, and the most that one operator may take besides while it
   * runs, in bytes. 0: 8 GiB */
  uint64_t memory_limit;
  uint64_t instruction_limit; /* the most instructions per run. 0: 10 million */
  /* The next four are copied; their contexts must outlive the program and its methods. */
  const pteron_allocator* allocator;
  const pteron_threads* thread_pool;
  const pteron_operator* operators;
  size_t operator_count;
  const pteron_delegate* delegates;
  size_t delegate_count;
  /* the most seconds per run. 0: no limit. A run past it fails with PTERON_CANCELLED: between two
   * instructions, within a long operator, or within OpenVINO, which then runs each call on its own
   * thread, for some 100 us more. An operator of the application's is waited for. */
  double time_limit;
} pteron_program_options;

typedef struct pteron_method_options {
  size_t struct_size;
  /* The method (of the same program) whose mutable buffers this one uses too, as a model's own
   * methods do in PyTorch: those buffers that the program plans for sharing (memory id 2 and up).
   */
  pteron_method* shares_state_with;
  uint64_t seed; /* of random operators (rand, randn): methods with the same seed give the same
                    numbers, run after run */
} pteron_method_options;

/* ---- Programs ------------------------------------------------------------------------------ */

/* Opens a .pte file. options may be null. The file stays mapped (unless copy_file) while the
 * program or one of its methods lives: do not overwrite it in place. */
PTERON_API pteron_status pteron_program_open(const char* path,
                                             const pteron_program_options* options,
                                             pteron_program** program, pteron_error** error);
/* The same from memory. The bytes are copied if copy_file is set or if they are not aligned to 16;
 * else they must stay as they are while the program or one of its methods lives. */
PTERON_API pteron_status pteron_program_open_memory(const void* data, size_t size,
                                                    const pteron_program_options* options,
                                                    pteron_program** program, pteron_error** error);
/* Methods keep what they need: the program may be freed before them. */
PTERON_API void pteron_program_free(pteron_program* program);

PTERON_API size_t pteron_program_method_count(const pteron_program* program);
/* Null if index is out of range. Valid as long as the program. */
PTERON_API const char* pteron_program_method_name(const pteron_program* program, size_t index);

/* What the program holds and what would run where, as a JSON object; docs/json.md has its fields.
 */
PTERON_API pteron_status pteron_program_info(const pteron_program* program, char** json,
                                             pteron_error** error);

/* ---- Methods ------------------------------------------------------------------------------- */

/* Loads a method: plans memory, binds operators, compiles delegates (once per program). name null:
 * "forward", or the only one. options may be null. Fails naming every operator and delegate that is
 * missing. */
PTERON_API pteron_status pteron_method_load(pteron_program* program, const char* name,
                                            const pteron_method_options* options,
                                            pteron_method** method, pteron_error** error);
/* Waits for a run that was started, and for a call on another thread. */
PTERON_API void pteron_method_free(pteron_method* method);

/* What an input or output is. Pointers are valid as long as the method. */
typedef struct pteron_spec {
  size_t struct_size;
  const char* name;         /* from the program, else "input0", "output1", ... */
  const int64_t* shape;     /* rank entries; upper bounds if dynamic */
  const uint8_t* dim_order; /* rank entries: the order of dimensions in memory, outermost first */
  int32_t kind;             /* a pteron_kind */
  int32_t dtype;            /* a pteron_dtype, for tensors */
  int32_t rank;
  int32_t dynamic; /* 1: sizes may be smaller than shape */
} pteron_spec;

PTERON_API size_t pteron_method_input_count(const pteron_method* method);
PTERON_API size_t pteron_method_output_count(const pteron_method* method);
PTERON_API pteron_status pteron_method_input_spec(const pteron_method* method, size_t index,
                                                  pteron_spec* spec, pteron_error** error);
PTERON_API pteron_status pteron_method_output_spec(const pteron_method* method, size_t index,
                                                   pteron_spec* spec, pteron_error** error);

/* Binds an input until it is bound again: its memory is borrowed, and read at each execute, without
 * a copy where the program allows (the dtype and memory order are the program's and nothing
 * writes to it). A tensor's dtype must be the program's; its shape must fit the spec. Scalars must
 * be those that the program was traced with (ExecuTorch's rule): a program has them compiled in. */
PTERON_API pteron_status pteron_method_bind_input(pteron_method* method, size_t index,
                                                  const pteron_value* value, pteron_error** error);
/* Binds an output's memory until it is bound again (value null: back to the method's own). Dense,
 * of the spec's dtype; capacity is that of its shape, and a dynamic output may fill less (see
 * pteron_method_get_output). Written without a copy where the program allows. */
PTERON_API pteron_status pteron_method_bind_output(pteron_method* method, size_t index,
                                                   const pteron_value* value, pteron_error** error);

/* Runs the method on the bound inputs. */
PTERON_API pteron_status pteron_method_execute(pteron_method* method, pteron_error** error);
/* Binds count inputs for this call only, and runs. Fails if count is not the input count. */
PTERON_API pteron_status pteron_method_run(pteron_method* method, const pteron_value* inputs,
                                           size_t count, pteron_error** error);
/* Starts a run on a thread of the method's; every other call returns PTERON_BUSY until
 * pteron_method_wait, which returns what execute would have. */
PTERON_API pteron_status pteron_method_start(pteron_method* method, pteron_error** error);
PTERON_API pteron_status pteron_method_wait(pteron_method* method, pteron_error** error);

/* Ends the run that goes on (execute, run, or since start), if any: it fails with PTERON_CANCELLED
 * as soon as it notices, and the method works afterwards. Returns at once; any thread may call it
 * until the method is freed, on a method in use too. Noticed where time_limit says; within a call
 * of OpenVINO only if there is a time_limit, of any length, else after that call. Null: nothing. */
PTERON_API void pteron_method_cancel(pteron_method* method);
/* Says that the caller is about to call execute or run: pteron_method_cancel reaches that call from
 * now on, while without this a cancellation just before the run begins is lost. Holds to the end of
 * that call. */
PTERON_API pteron_status pteron_method_announce(pteron_method* method, pteron_error** error);

/* Output index of the last run: a dense view, valid until the method runs again or is freed. A
 * tensor's strides are given if its memory is not row-major. Fails if there was no successful run.
 */
PTERON_API pteron_status pteron_method_get_output(pteron_method* method, size_t index,
                                                  pteron_value* value, pteron_error** error);

/* State: the buffers that the method keeps from one run to the next (a KV cache, running
 * statistics). A run that was refused (an input that does not fit) leaves them as they were. One
 * that failed while it ran leaves in each what its instructions wrote until then, perhaps a part of
 * a new value: set them, or put them back with pteron_method_reset_state, before they are relied
 * on. */
PTERON_API size_t pteron_method_state_count(const pteron_method* method);
PTERON_API pteron_status pteron_method_state_spec(const pteron_method* method, size_t index,
                                                  pteron_spec* spec, pteron_error** error);
/* A view of the buffer itself; valid until the method is freed. */
PTERON_API pteron_status pteron_method_get_state(pteron_method* method, size_t index,
                                                 pteron_value* value, pteron_error** error);
/* Copies a tensor of the same dtype and shape into the buffer. */
PTERON_API pteron_status pteron_method_set_state(pteron_method* method, size_t index,
                                                 const pteron_value* value, pteron_error** error);
/* Puts every buffer back to its initial value. */
PTERON_API pteron_status pteron_method_reset_state(pteron_method* method, pteron_error** error);

/* What runs each part of the method, on which device, at which precision in force, as JSON;
 * docs/json.md has its fields, and those of the next ones. */
PTERON_API pteron_status pteron_method_execution(pteron_method* method, char** json,
                                                 pteron_error** error);
/* Times of the last run, by instruction and by OpenVINO's own operators, as JSON. The program must
 * have been opened with profile. */
PTERON_API pteron_status pteron_method_profile(pteron_method* method, char** json,
                                               pteron_error** error);

/* ---- The library and the machine ----------------------------------------------------------- */

/* The delegates and operators that this library has for programs, by name, as JSON (docs/json.md).
 */
PTERON_API pteron_status pteron_registered(char** json, pteron_error** error);

/* OpenVINO's devices, as JSON. Of the options, openvino is used. */
PTERON_API pteron_status pteron_devices(const pteron_program_options* options, char** json,
                                        pteron_error** error);
/* What was looked for, what was found, what to do, as JSON; "ok" says whether a model could run on
 * OpenVINO. Succeeds also where OpenVINO is missing. */
PTERON_API pteron_status pteron_doctor(const pteron_program_options* options, char** json,
                                       pteron_error** error);
/* Adds a place to search for OpenVINO after the caller's and the environment's, for this process: a
 * package manager's folder, say. The search happens when a program first needs OpenVINO. */
PTERON_API pteron_status pteron_add_openvino_path(const char* path, pteron_error** error);
/* What errors and pteron_doctor say to do where no OpenVINO is found, for this process: a sentence,
 * in the words of whoever installs it. Null: the library's own. Any thread may call it. */
PTERON_API pteron_status pteron_set_openvino_remedy(const char* remedy, pteron_error** error);

/* ---- Inside an operator or delegate of the application's
 * ------------------------------------------- */

PTERON_API size_t pteron_call_argument_count(const pteron_call* call);
/* The argument at index, inputs first, then outputs; valid during the call. */
PTERON_API pteron_status pteron_call_argument(pteron_call* call, size_t index, pteron_value* value);
/* Gives an output tensor its shape; fails if that exceeds what the program planned. */
PTERON_API pteron_status pteron_call_resize(pteron_call* call, size_t index, const int64_t* shape,
                                            int32_t rank);
/* Sets an output scalar: an int, a double or a bool, as the program has it. */
PTERON_API pteron_status pteron_call_set_scalar(pteron_call* call, size_t index,
                                                const pteron_value* value);
/* Scratch memory, aligned to 64 bytes, freed when the call returns; null if there is none. */
PTERON_API void* pteron_call_scratch(pteron_call* call, size_t size);
PTERON_API void pteron_call_parallel_for(pteron_call* call, size_t count, size_t grain,
                                         void (*body)(void* argument, size_t begin, size_t end),
                                         void* argument);
/* Sets the message of the error that the run will return (a copy is taken); returns
 * PTERON_FAILED. */
PTERON_API pteron_status pteron_call_fail(pteron_call* call, const char* message);

#ifdef __cplusplus
}
#endif

#endif
