// Runs a program's first method on zeros, from C# by the C interface (P/Invoke).
//
// usage: Program MODEL.pte [OPENVINO]   with pteron.dll (Linux: libpteron.so) where the system finds it
using System;
using System.Runtime.InteropServices;
using System.Text;

// The library is looked for beside the program and in the system's folders, not in the current one.
[assembly: DefaultDllImportSearchPaths(DllImportSearchPath.AssemblyDirectory | DllImportSearchPath.SafeDirectories)]

// Only what this program calls; pteron.h has the rest. The layouts are those of 64-bit systems.
static class Native {
  const string Library = "pteron";

  // Sequential layout pads as C does. A size_t is a UIntPtr; a pteron_status is an int, 0: it worked.
  [StructLayout(LayoutKind.Sequential)]
  public struct Options {
    public UIntPtr StructSize;
    public IntPtr Device, OpenVino, CacheDir, ConfigKeys, ConfigValues;
    public UIntPtr ConfigCount;
    public IntPtr Weights;
    public UIntPtr WeightsCount;
    public int Precision, Hint, Threads, CopyFile, Profile, Reserved;
    public ulong MemoryLimit, InstructionLimit;
    public IntPtr Allocator, ThreadPool, Operators;
    public UIntPtr OperatorCount;
    public IntPtr Delegates;
    public UIntPtr DelegateCount;
    public double TimeLimit;
  }

  // pteron_value with the tensor of its union, which is the union's largest member.
  [StructLayout(LayoutKind.Sequential)]
  public struct Value {
    public int Kind, Reserved;
    public IntPtr Data, Shape, Strides;
    public int Rank, DType;
  }

  [StructLayout(LayoutKind.Sequential)]
  public struct Spec {
    public UIntPtr StructSize;
    public IntPtr Name, Shape, DimOrder;
    public int Kind, DType, Rank, Dynamic;
  }

  const CallingConvention C = CallingConvention.Cdecl;
  [DllImport(Library, CallingConvention = C)]
  public static extern IntPtr pteron_version();
  [DllImport(Library, CallingConvention = C)]
  public static extern UIntPtr pteron_dtype_size(int dtype);
  [DllImport(Library, CallingConvention = C)]
  public static extern IntPtr pteron_error_message(IntPtr error);
  [DllImport(Library, CallingConvention = C)]
  public static extern void pteron_error_free(IntPtr error);
  // Paths are UTF-8 with a NUL, which .NET's "string" is not on Windows: hence byte[].
  [DllImport(Library, CallingConvention = C)]
  public static extern int pteron_program_open(byte[] path, ref Options options, out IntPtr program, out IntPtr error);
  [DllImport(Library, CallingConvention = C)]
  public static extern void pteron_program_free(IntPtr program);
  [DllImport(Library, CallingConvention = C)]
  public static extern int pteron_method_load(IntPtr program, byte[] name, IntPtr options, out IntPtr method, out IntPtr error);
  [DllImport(Library, CallingConvention = C)]
  public static extern void pteron_method_free(IntPtr method);
  [DllImport(Library, CallingConvention = C)]
  public static extern UIntPtr pteron_method_input_count(IntPtr method);
  [DllImport(Library, CallingConvention = C)]
  public static extern UIntPtr pteron_method_output_count(IntPtr method);
  [DllImport(Library, CallingConvention = C)]
  public static extern int pteron_method_input_spec(IntPtr method, UIntPtr index, ref Spec spec, out IntPtr error);
  [DllImport(Library, CallingConvention = C)]
  public static extern int pteron_method_run(IntPtr method, Value[] inputs, UIntPtr count, out IntPtr error);
  [DllImport(Library, CallingConvention = C)]
  public static extern int pteron_method_get_output(IntPtr method, UIntPtr index, out Value value, out IntPtr error);
}

static class Program {
  const int KindTensor = 1, Float32 = 6;

  static void Check(int status, IntPtr error) {
    if (status == 0) return;
    string text = FromUtf8(Native.pteron_error_message(error));
    Native.pteron_error_free(error);
    throw new Exception(text);
  }

  static string FromUtf8(IntPtr text) {
    int length = 0;
    while (Marshal.ReadByte(text, length) != 0) ++length;
    byte[] bytes = new byte[length];
    Marshal.Copy(text, bytes, 0, length);
    return Encoding.UTF8.GetString(bytes);
  }

  static byte[] ToUtf8(string text) { return Encoding.UTF8.GetBytes(text + "\0"); }

  static int Main(string[] arguments) {
    if (arguments.Length == 0) {
      Console.Error.WriteLine("usage: Program MODEL.pte [OPENVINO]");
      return 2;
    }
    IntPtr program = IntPtr.Zero, method = IntPtr.Zero, error;
    // What the library may read for as long as a call takes must not be moved.
    GCHandle openvino = GCHandle.Alloc(ToUtf8(arguments.Length > 1 ? arguments[1] : ""), GCHandleType.Pinned);
    try {
      var options = new Native.Options();
      options.StructSize = (UIntPtr)Marshal.SizeOf(typeof(Native.Options));
      if (arguments.Length > 1) options.OpenVino = openvino.AddrOfPinnedObject();
      Check(Native.pteron_program_open(ToUtf8(arguments[0]), ref options, out program, out error), error);
      Check(Native.pteron_method_load(program, null, IntPtr.Zero, out method, out error), error);
      Run(method);
      return 0;
    } catch (Exception failure) {
      Console.Error.WriteLine(failure.Message);
      return 1;
    } finally {
      Native.pteron_method_free(method);
      Native.pteron_program_free(program);
      openvino.Free();
    }
  }

  static void Run(IntPtr method) {
    IntPtr error;
    var inputs = new Native.Value[(int)Native.pteron_method_input_count(method)];
    var arrays = new GCHandle[inputs.Length];
    try {
      for (int i = 0; i < inputs.Length; ++i) {
        var spec = new Native.Spec();
        spec.StructSize = (UIntPtr)Marshal.SizeOf(typeof(Native.Spec));
        Check(Native.pteron_method_input_spec(method, (UIntPtr)i, ref spec, out error), error);
        if (spec.Kind != KindTensor) throw new Exception("input " + i + " is no tensor");
        long count = (long)Native.pteron_dtype_size(spec.DType);
        for (int k = 0; k < spec.Rank; ++k) count *= Marshal.ReadInt64(spec.Shape, 8 * k);
        arrays[i] = GCHandle.Alloc(new byte[count], GCHandleType.Pinned);
        inputs[i].Kind = KindTensor;
        inputs[i].Data = arrays[i].AddrOfPinnedObject();
        inputs[i].Shape = spec.Shape;  // The method's own, which lives as long as it.
        inputs[i].Rank = spec.Rank;
        inputs[i].DType = spec.DType;
      }
      Check(Native.pteron_method_run(method, inputs, (UIntPtr)inputs.Length, out error), error);
    } finally {
      foreach (GCHandle array in arrays)
        if (array.IsAllocated) array.Free();
    }
    int outputs = (int)Native.pteron_method_output_count(method);
    for (int i = 0; i < outputs; ++i) {
      Native.Value output;
      Check(Native.pteron_method_get_output(method, (UIntPtr)i, out output, out error), error);
      var shape = new long[output.Rank];
      if (output.Rank > 0) Marshal.Copy(output.Shape, shape, 0, shape.Length);
      string line = "output " + i + ": [" + string.Join(", ", shape) + "]";
      if (output.DType == Float32) {
        var first = new float[1];
        Marshal.Copy(output.Data, first, 0, 1);
        line += " " + first[0].ToString("g6", System.Globalization.CultureInfo.InvariantCulture) + " ...";
      }
      Console.WriteLine(line);
    }
    Console.WriteLine("pteron " + FromUtf8(Native.pteron_version()));
  }
}
