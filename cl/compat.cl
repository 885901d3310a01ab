/* Dialect and lanes: the only file with pragmas. Every part after it sees one language, OpenCL C 1.2, and one
 * set of types for LANES orbits at a time.
 *
 * LANES     orbits in one OpenCL vector: 1, 2, 4, 8 or 16
 * USE_FP64  1 where the parts that follow need double */
#ifndef LANES
#error "LANES is not defined"
#endif
#ifndef USE_FP64
#error "USE_FP64 is not defined"
#endif
#if LANES != 1 && LANES != 2 && LANES != 4 && LANES != 8 && LANES != 16
#error "LANES must be 1, 2, 4, 8 or 16"
#endif

/* a·b + c is never fused behind our back; where it is to be fused, the code says fma. */
#pragma OPENCL FP_CONTRACT OFF
#if USE_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define JOIN_TOKENS(a, b) a##b
#define JOIN(a, b) JOIN_TOKENS(a, b)

/* LANED(int) is int, int2 … int16; LANED(convert_int) the conversion to it. */
#if LANES == 1
#define LANED(name) name
#define lanes_mask(comparison) (-(int)(comparison))
#define lanes_load(pointer) (*(pointer))
#define lanes_store(value, pointer) (*(pointer) = (value))
#else
#define LANED(name) JOIN(name, LANES)
#define lanes_mask(comparison) LANED(convert_int)(comparison)
#define lanes_load(pointer) JOIN(vload, LANES)(0, pointer)
#define lanes_store(value, pointer) JOIN(vstore, LANES)(value, 0, pointer)
#endif

typedef LANED(int) int_lanes;
typedef LANED(uint) uint_lanes;
typedef LANED(long) long_lanes;
typedef LANED(ulong) ulong_lanes;
typedef LANED(float) float_lanes;
#if USE_FP64
typedef LANED(double) double_lanes;
#endif

/* LANES_FOLD(name, int, both) defines name(lanes), all lanes of a vector of int made one by `both`, a function or macro
 * of two operands: halves are put together until one lane is left. */
#define LANES_FOLD(name, type, both) \
  static type name(LANED(type) lanes) { JOIN(FOLD_, LANES)(type, both, lanes) }
#define FOLD_1(type, both, one) return one;
#define FOLD_2(type, both, two) return both(two.x, two.y);
#define FOLD_4(type, both, four) const type##2 two = both(four.lo, four.hi); FOLD_2(type, both, two)
#define FOLD_8(type, both, eight) const type##4 four = both(eight.lo, eight.hi); FOLD_4(type, both, four)
#define FOLD_16(type, both, sixteen) const type##8 eight = both(sixteen.lo, sixteen.hi); FOLD_8(type, both, eight)

/* Whether any lane of a mask is true. Some compilers make a branch a lane of any(), which costs a sixth of the loop. */
#define LANES_OR(a, b) ((a) | (b))
LANES_FOLD(lanes_or, int, LANES_OR)
#define lanes_any(mask) (lanes_or(mask) != 0)

/* A mask is an int_lanes: −1 where true, 0 where false. A comparison of scalars gives 1, so lanes_mask() makes it
 * one, and select() and & read alike for one lane and for many. */

/* Before a loop: unroll it whole, so that arrays indexed by it become registers; or keep it small. */
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")

/* A function that is always written out where it is called: left alone, some compilers spill all that it is given. */
#define INLINED static __attribute__((always_inline))

/* A kernel whose work-items are vectors already, so that a compiler need not make vectors of work-items: Intel's would
 * try, take two to eight times as long, and not use it. */
#if LANES > 1
#define KERNEL kernel __attribute__((vec_type_hint(LANED(float))))
#else
#define KERNEL kernel
#endif
