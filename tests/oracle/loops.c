/* The definition of a count, compiled: every orbit is tested at every iteration. Compile with -ffp-contract=off. */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdint.h>

#if defined(__FAST_MATH__) || (FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16)
#error "float and double must be evaluated as such"
#endif

#define JOIN_TOKENS(a, b, c, d, e) a##b##c##d##e
#define JOIN(a, b, c, d, e) JOIN_TOKENS(a, b, c, d, e)
#define NAME(what) JOIN(what, _, NUMBER, _, ORDER_NAME)

/* Orders of the operations of a step. */
#define SEPARATE 0
#define FUSED 1
#define AVX 2 /* the HPC report's intrinsics */

/* Formulas: compiled.py numbers them alike. From PROGRAM on, steps are operations that it has set. */
#define MANDELBROT 0
#define JULIA 1
#define BURNING_SHIP 2
#define MULTIBROT_3 3
#define PROGRAM 4
#define JULIA_OF_PROGRAM 5

/* Operations: `place` is that of a turn's cosine and sine among the numbers. */
enum { SQR, SQR_ADD, MUL, MUL_ADD, ROT, ROT_ADD, STORE, ADD, ABSX, ABSY, NEGX, NEGY };
typedef struct { int32_t name, place; } operation;

static struct {
  int32_t lines;
  int32_t lengths[8];
  operation line[8][16];
  double numbers[256];
} program;

/* `words` are each line's length, and name and place of its operations; `numbers` are exact in the job's number. */
void set_program(int32_t lines, const int32_t *words, int32_t total, const double *numbers) {
  program.lines = lines;
  for (int32_t k = 0; k < lines; k++) {
    program.lengths[k] = *words++;
    for (int32_t place = 0; place < program.lengths[k]; place++) {
      program.line[k][place].name = *words++;
      program.line[k][place].place = *words++;
    }
  }
  for (int32_t k = 0; k < total; k++) program.numbers[k] = numbers[k];
}

#define ALWAYS_INLINE inline __attribute__((always_inline))

#define NUMBER float
#define FMA fmaf
#define ABSOLUTE fabsf
#define WORD uint32_t
#include "loops_number.h"
#undef NUMBER
#undef FMA
#undef ABSOLUTE
#undef WORD

#define NUMBER double
#define FMA fma
#define ABSOLUTE fabs
#define WORD uint64_t
#include "loops_number.h"

float fma_float(float a, float b, float c) { return fmaf(a, b, c); }
double fma_double(double a, double b, double c) { return fma(a, b, c); }
