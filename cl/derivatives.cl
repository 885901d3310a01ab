/* The derivatives of an orbit, all that its formula has: one complex number, or the two columns of a Jacobian. They are
 * by the pixel's point, in units of 2^−k where that is how far a pixel leads, about.
 */
#if FORMULA_ANALYTIC
#define DERIVATIVES_WORDS DERIVATIVE_WORDS
#else
#define DERIVATIVES_WORDS (2 * DERIVATIVE_WORDS)
#endif

/* How the point moves: 2^−k along re and, in a second column, along im. */
static formula_derivative derivatives_move(int k) {
#if FORMULA_ANALYTIC
  return derivative_unit(k);
#else
  const formula_derivative move = {derivative_unit(k), derivative_unit_up(k)};
  return move;
#endif
}

static formula_derivative derivatives_keep(formula_derivative d, formula_derivative other, int_lanes mask) {
#if FORMULA_ANALYTIC
  return derivative_keep(d, other, mask);
#else
  const formula_derivative kept = {derivative_keep(d.by_re, other.by_re, mask),
                                   derivative_keep(d.by_im, other.by_im, mask)};
  return kept;
#endif
}

static void derivatives_pack(formula_derivative d, uint_lanes *words) {
#if FORMULA_ANALYTIC
  derivative_pack(d, words);
#else
  derivative_pack(d.by_re, words);
  derivative_pack(d.by_im, words + DERIVATIVE_WORDS);
#endif
}

static formula_derivative derivatives_unpack(const uint_lanes *words) {
#if FORMULA_ANALYTIC
  return derivative_unpack(words);
#else
  const formula_derivative d = {derivative_unpack(words), derivative_unpack(words + DERIVATIVE_WORDS)};
  return d;
#endif
}

/* The slope of |z|²/2: by how much it grows where the point moves along re, and along im. Of an analytic formula that
 * is the conjugate of z̄·z′. */
static void derivatives_slope(number_far z, formula_derivative d, float_lanes *re, float_lanes *im) {
  const derivative_point conjugate = derivative_point_turn_im(derivative_point_from_far(z), (int_lanes)(-1));
#if FORMULA_ANALYTIC
  derivative_parts(derivative_times(conjugate, d), re, im);
  *im = -*im;
#else
  float_lanes other;
  derivative_parts(derivative_times(conjugate, d.by_re), re, &other);
  derivative_parts(derivative_times(conjugate, d.by_im), im, &other);
#endif
}
