/* Multiply-adds in the job's rounding and nothing else, for the ceiling of a device: CHAINS of them at a time, each
 * waiting for its own last result alone.
 *
 * CHAINS   independent chains a lane */
#ifndef CHAINS
#error "CHAINS is not defined"
#endif

kernel void study_peak(global uint *out, uint steps) {
  number_real x[CHAINS];
  const number_real factor = number_from_int((int_lanes)((int)get_global_id(0) & 1)), term = factor + factor;
  UNROLL for (uint k = 0; k < CHAINS; k++) x[k] = number_from_int((int_lanes)((int)k));
  for (uint step = 0; step < steps; step++) {
    UNROLL for (uint k = 0; k < CHAINS; k++) x[k] = number_multiply_add(x[k], factor, term);
  }
  number_complex sum = {x[0], x[1]};
  UNROLL for (uint k = 2; k < CHAINS; k++) sum.re += x[k];
  out[get_global_id(0)] = lanes_any(number_outside(sum, term)) ? 1 : 0; /* or the compiler drops it all */
}
