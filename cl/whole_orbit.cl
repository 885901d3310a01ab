/* Behind whole.cl: steps of z² + c, each part rounded down, as `advanced` of mandelcl/perturbation/integers.py has
 * them. */

/* From z and c, four numbers, in units of 2^−bits: up to so many steps. Each of `places` is both parts of a value;
 * `done` says how many there are: no more than up to the first with a part of 4 or more. */
kernel void whole_orbit(global const ulong *from, uint bits, uint steps, global ulong *places, global uint *done) {
  ulong x[LIMBS], y[LIMBS], re[LIMBS], im[LIMBS];
  whole_load(from, x);
  whole_load(from + LIMBS, y);
  whole_load(from + 2 * LIMBS, re);
  whole_load(from + 3 * LIMBS, im);
  uint step = 0;
  while (step < steps) {
    whole_square(x, y, bits, x, y);
    whole_add(x, re, LIMBS, x);
    whole_add(y, im, LIMBS, y);
    whole_store(x, places + 2 * LIMBS * (size_t)step);
    whole_store(y, places + 2 * LIMBS * (size_t)step + LIMBS);
    step++;
    if (whole_reaches(x, LIMBS, bits + 2) || whole_reaches(y, LIMBS, bits + 2)) break;
  }
  done[0] = step;
}
