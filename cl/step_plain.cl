/* Single iterations in plain numbers, where those have the bits that numbers with exponents have, by the plain_delta of
 * plain_square.cl or plain_formula.cl. With bounds on errors, and with several references, there are none:
 * step_plain_none.cl stands here. */

#define PLAIN_MOST 16 /* iterations at a time */

/* Up to PLAIN_MOST single iterations of the differences of lanes at a place, in plain numbers; returns the place
 * where they are then. No exponent leaves its range and no part is cut, so that each rounding is that of turn_step,
 * whose bits these are, in a fraction of its time. It does not begin at a place where long steps do, since one of
 * them mostly holds, and stops before anything else: a long step, an orbit that leaves the disc, reaches the
 * iteration limit, begins anew or goes on as it is, and what is too small. */
INLINED uint turn_singles(turning *orbits, const orbit_constant *c, uint place, int_lanes there,
                          const advance_view *view) {
  if (!NUMBER_PLAIN) return place;
  global const uint *method = view->method;
  orbit_state *state = &orbits->state;
  const int_lanes small = lanes_mask(state->z.e < (int_lanes)(NUMBER_PLAIN)) |
      lanes_mask(orbits->reference.e != (int_lanes)(0)) | turn_disc_followed(state);
  const uint begin = place, length = method[METHOD_LENGTH], level = method[METHOD_FIRST_RECORD], shift =
      method[METHOD_SHIFT];
  if (length < 2 || turn_index(method, level + (place >> shift))[0] == place || lanes_any(there & small)) return place;
  const number_complex by = scaled_plain(c->c);
  const number_real least = scaled_power((int_lanes)(NUMBER_PLAIN));
  const number_real tail = scaled_power((int_lanes)((int)method[METHOD_TAIL]));
  const count_scalar left = view->max_iterations - counts_largest(state->n, there) - 1;
  const uint end = min(length - 1, place + (uint)min((count_scalar)(PLAIN_MOST), left));
  /* Near |Z| = R more than |w|² decides. */
  const number_real margin = (number_real)(method[METHOD_EDGE_TOTAL] ? 2 * TURN_NEAR : 0);
  const number_real most = view->radius_squared - margin;
  number_complex z = scaled_plain(state->z), reference = orbits->reference.z;
  plain_derivative derivative;
  if (!plain_derivative_begin(&derivative, state, c, there)) return place;
  ROLLED while (place < end) {
#if FORMULA_INNER_FOLDS
    scaled_part inner[FORMULA_INNER_FOLDS];
    method_inner(method, place, inner);
#else
    const scaled_part *inner = 0;
#endif
    number_complex both;
    const number_complex t = plain_delta(reference, z, inner, &both);
    if (place != begin && turn_mapped_at(method, place)) break;
    global const uint *step = turn_index(method, level + (place >> shift));
    if (step[0] == place && lanes_any(there &
                                      lanes_mask(scaled_key(t, (int_lanes)(0)) < (int_lanes)((int)step[1])))) break;
    const number_complex next = {t.re + by.re, t.im + by.im};
    global const uint *words = method_part(method, METHOD_REFERENCE, 2 * NUMBER_WORDS, place + 1);
    const number_complex beside = {(number_real)(method_real(words)), (number_real)(method_real(words + NUMBER_WORDS))};
    const number_complex w = {beside.re + next.re, beside.im + next.im};
    const number_real norm = scaled_norm(w);
    const number_real smallest = min(min(fabs(next.re), fabs(next.im)), min(fabs(both.re), fabs(both.im)));
    const int_lanes goes_on = lanes_mask(norm <= most) & lanes_mask(norm >= scaled_norm(next)) &
                              lanes_mask(scaled_larger(next) < tail) & lanes_mask(smallest >= least) &
                              lanes_mask(scaled_larger(beside) >= (number_real)(NUMBER_SMALL));
    if (lanes_any(there & ~goes_on)) break;
    if (!plain_derivative_on(&derivative, both, z, there)) break;
    z = next;
    reference = beside;
    place++;
  }
  if (place == begin) return place;
  const scaled now = {reference, (int_lanes)(0)};
  state->z = scaled_keep(state->z, scaled_from(z, (int_lanes)(0)), there);
  plain_derivative_end(&derivative, state, there);
  orbits->reference = scaled_keep(orbits->reference, now, there);
  state->place = select(state->place, (uint_lanes)(place), there);
  state->n += counts_convert(select((uint_lanes)(0), (uint_lanes)(place - begin), there));
  return place;
}
