/* The interior test of orbits by turns: whether a disc about an orbit maps into itself, so that none of its points ever
 * escapes. Without INTERIOR, turn_inside_none.cl stands here.
 *
 * Where an orbit is back beside the start of a reference, near where it was seen before, a disc of radius s about that
 * place is followed: after so many steps its points are within l·s + m·s² + r of the orbit, for all s up to `most`.
 * With D how far the orbit is from where the disc began, the disc maps into itself if D + r + l·s + m·s² ≤ s. For s =
 * 2(D + r)/(1 − l) that is so where l < 1 and m·s ≤ (1 − l)/2. l is the modulus of the derivative, m bounds the second
 * one, and r what is rounded and left out. After a return that is near but proves nothing, the next disc begins where
 * the orbit is seen next, so that discs take a small share of long orbits.
 *
 * l, m, r and `most` are kept in units of 2^e beside a difference (x, y)·2^e; l and m by those of s, which are the
 * first difference's. With R ≥ 2 an orbit that stays bounded never escapes; what is tested beside that is that the disc
 * is within R. l is 0 where there was no near return, and DISC_FAILED where a disc proved nothing since the orbit was
 * seen. */

#define DISC_FAILED -1
#define DISC_CLOSE 0.0625f /* a return is near where it is within this share of the difference */

/* What a step makes of a disc; with CERTIFIED, what it makes of an error of r. */
typedef struct {
  number_real l, m, r, most;
#if CERTIFIED
  number_real proved;
#endif
} disc_step;

static void disc_begin(orbit_state *state, int_lanes mask) {
  state->disc.l = scaled_choose(state->disc.l, (number_real)(1), mask);
  state->disc.m = scaled_choose(state->disc.m, (number_real)(0), mask);
  state->disc.r = scaled_choose(state->disc.r, (number_real)(0), mask);
  state->disc.most = scaled_choose(state->disc.most, (number_real)(INFINITY), mask);
}

/* Mask of the lanes that follow a disc. */
static int_lanes turn_disc_followed(const orbit_state *state) {
  return lanes_mask(state->disc.l > (number_real)(0));
}

/* The discs of the lanes of the mask are followed no longer. */
INLINED void turn_disc_leave(orbit_state *state, int_lanes mask) {
  state->disc.l = scaled_choose(state->disc.l, (number_real)(DISC_FAILED), mask & turn_disc_followed(state));
}

/* The least of `most` and the s at which l·s + m·s² + r reaches a room, if m·s ≤ l. */
static number_real disc_within(number_real most, number_real l, number_real m, number_real r, number_real room) {
  const number_real by_room = (room - r) / (l + l), by_bend = m > (number_real)(0) ? l / m : most;
  return min(most, min(by_room, by_bend));
}

#if CERTIFIED
/* The orbit with r for its error. */
static orbit_state disc_as_error(const orbit_state *state) {
  orbit_state off = *state;
  off.error = state->disc.r;
  return off;
}
#endif

/* The disc at t, from where it is at w = Z + z, of a line that is of some degree d and leaves other moduli as they are:
 * |line(w + E) − line(w)| ≤ (|w| + E)^d − |w|^d, and E is at most |w|/8 where d is above 2. */
static void turn_disc_at_t(disc_step *disc, const orbit_state *state, scaled reference, scaled t, uint degree) {
  const scaled w = scaled_sum(reference, state->z);
  const number_real size = number_root_above(scaled_norm(w.z)), d = (number_real)((number_scalar)degree);
  const number_real l = state->disc.l, m = state->disc.m, r = state->disc.r;
  number_real power = (number_real)(1);
  int_lanes power_e = (int_lanes)(0);
  disc->most = state->disc.most;
  for (uint k = 2; k < degree; k++) {
    power *= size;
    power_e += w.e;
  }
  number_real bend = power * d * (d - 1) * (number_real)(0.5f);
  if (degree > 2) {
    const number_real room = scaled_larger(w.z) * scaled_power_within(w.e - state->z.e) * (number_real)(0.125f);
    disc->most = disc_within(disc->most, l, m, r, room);
    for (uint k = 2; k < degree; k++) bend *= (number_real)(1.125f);
  }
  const number_real by = power * size * d * scaled_power_within(power_e + w.e + state->z.e - t.e);
  /* (2·l·s + r)² is at most 5·(l·s)² + 5·r². */
  const number_real twice = bend * (number_real)(5) * scaled_power_within(power_e + state->z.e + state->z.e - t.e);
  disc->l = by * l;
  disc->m = fma(twice, l * l, by * m);
  disc->r = fma(twice, r * r, fma(by, r, scaled_reach(t.z) * d * (number_real)(12 * NUMBER_UNIT)));
  disc->most = disc_within(disc->most, disc->l, disc->m, disc->r, scaled_larger(t.z) * (number_real)(0.25f));
}

/* The disc after a single iteration to t + c, at an exponent. */
static void turn_disc_single(disc_step *disc, const step_errors *errors, const orbit_state *state, scaled reference,
                             scaled t, uint_lanes lines, const orbit_constant *c, int_lanes e) {
#if CERTIFIED
  step_error error;
  const orbit_state off = disc_as_error(state);
  step_error_of_t(&error, errors, &off, reference, t, lines);
  step_error_single(&error, t, c, e);
  disc->proved = error.next;
#endif
  const number_real by = scaled_power_within(t.e - e);
  disc->l *= by;
  disc->m *= by;
  disc->r = fma(disc->r, by, (number_real)(4 * NUMBER_UNIT));
}

/* |a| + |ã|, of a coefficient of c and that of c̄. */
static number_real disc_reach(const turn_record *record, uint k) {
#if FORMULA_ANALYTIC
  return scaled_reach(record->coefficient[k].z);
#else
  return scaled_reach(record->coefficient[k].z) + scaled_reach(record->mirrored[k >> 1]);
#endif
}

/* The disc after a long step from t, at an exponent. What the step leaves out, the quadratic part where it is not
 * computed included, is at most some 2^−2s of the linear one, where s are the reference's bits of steps. */
static void turn_disc_over(disc_step *disc, const step_errors *errors, const orbit_state *state, scaled reference,
                           global const uint *method, uint number, const turn_record *record, scaled t,
                           uint_lanes lines, const orbit_constant *c, int_lanes skipped, int_lanes e) {
#if CERTIFIED
  step_error error;
  const orbit_state off = disc_as_error(state);
  step_error_of_t(&error, errors, &off, reference, t, lines);
  step_error_over(&error, method, number, record, &off, t, c, skipped, e);
  disc->proved = error.next;
#endif
  const int step_bits = (int)method[METHOD_STEP_KEYS] >> 8;
  const number_real reach = scaled_reach(t.z), by_c = scaled_reach(c->c.z);
  const scaled a = record->coefficient[0], b = record->coefficient[1], d = record->coefficient[2];
  const number_real by_a = scaled_reach(a.z) * scaled_power_within(a.e + t.e - e);
  const number_real bend = scaled_reach(d.z) * scaled_power_within(d.e + t.e + t.e - e);
  const number_real mixed = disc_reach(record, 3) * by_c *
                            scaled_power_within(record->coefficient[3].e + c->c.e + t.e - e);
  const number_real of_c = disc_reach(record, 1) * by_c * scaled_power_within(b.e + c->c.e - e);
  const number_real gain = (fma(bend + bend, reach, by_a) + mixed) * (number_real)(1 + 0x1p-19f);
  const number_real left = scaled_power((int_lanes)(6 - 2 * step_bits)) + (number_real)(8 * NUMBER_UNIT);
  const number_real twice = bend * (number_real)(5), l = disc->l, r = disc->r;
  disc->l = gain * l;
  disc->m = fma(twice, l * l, gain * disc->m);
  disc->r = fma(twice, r * r, fma(gain, r, fma(left, fma(by_a, reach, of_c), (number_real)(8 * NUMBER_UNIT))));
}

/* Keep the discs of the lanes of the mask after a step. With CERTIFIED, r is proved as the error of an orbit is. */
static void turn_disc_keep(const disc_step *disc, orbit_state *state, int_lanes mask) {
#if CERTIFIED
  const number_real proved = disc->proved;
#else
  const number_real proved = (number_real)(0);
#endif
  const number_real more = (number_real)(NUMBER_MORE);
  const int_lanes followed = mask & turn_disc_followed(state);
  state->disc.l = scaled_choose(state->disc.l, disc->l * more, followed);
  state->disc.m = scaled_choose(state->disc.m, disc->m * more, followed);
  state->disc.r = scaled_choose(state->disc.r, (disc->r + proved) * more, followed);
  state->disc.most = scaled_choose(state->disc.most, disc->most, followed);
}

/* The lanes of the mask are at w = Z + z, and within a room: the disc is to be within R. */
static void turn_disc_bound(orbit_state *state, scaled reference, int_lanes mask, const advance_view *view) {
  const scaled w = scaled_sum(reference, state->z);
  const number_real size = number_root_above(scaled_norm(w.z)) * scaled_power_within(w.e);
  const number_real room = fma(size, (number_real)(-NUMBER_MORE), number_root_above(view->radius_squared)) *
                           (number_real)(1 - 0x1p-8f);
  const number_real by = scaled_power_within(state->z.e);
  const number_real most = disc_within(state->disc.most, state->disc.l * by, (number_real)(0), state->disc.r * by,
                                       room);
  state->disc.most = scaled_choose(state->disc.most, most, mask & turn_disc_followed(state));
}

/* The lanes of the mask are about to begin anew, from a difference with the exponent e. */
INLINED void turn_disc_rebase(orbit_state *state, scaled reference, int_lanes e, int_lanes mask) {
  const int_lanes followed = mask & turn_disc_followed(state);
  if (!lanes_any(followed)) return;
  const number_real by = scaled_power_within(state->z.e - e);
  const number_real rounded = fma(scaled_reach(reference.z) * scaled_power_within(reference.e - e),
                                  (number_real)(2 * NUMBER_UNIT), (number_real)(4 * NUMBER_UNIT));
  state->disc.l = scaled_choose(state->disc.l, state->disc.l * by, followed);
  state->disc.m = scaled_choose(state->disc.m, state->disc.m * by, followed);
  state->disc.r = scaled_choose(state->disc.r, fma(state->disc.r, by, rounded), followed);
}

/* Mask of those of the lanes that begin anew whose discs map into themselves. At the first near return of others a disc
 * begins, and that is where they are seen now. */
INLINED int_lanes turn_disc_returns(orbit_state *state, int_lanes anew) {
  orbit_seen *seen = &state->seen;
  const int_lanes there = anew & lanes_mask(state->place == seen->place) & ~state->whole;
  if (!lanes_any(there)) return there;
  const scaled back = {{-seen->z.z.re, -seen->z.z.im}, seen->z.e}, apart = scaled_sum(state->z, back);
  const number_real distance = scaled_reach(apart.z) * scaled_power_within(apart.e - seen->z.e);
  const int_lanes near = there & lanes_mask(distance <= (number_real)(DISC_CLOSE));
  if (!lanes_any(near)) return near;
  const number_real by = scaled_power_within(state->z.e - seen->z.e), more = (number_real)(1 + 0x1p-10f);
  const number_real left = (number_real)(1) - state->disc.l * by * more;
  const number_real off = fma(state->disc.r, by, distance) + (number_real)(4 * NUMBER_UNIT);
  const number_real radius = step_errors_seen(seen, (off + off) / left * more);
  const int_lanes proved = near & turn_disc_followed(state) & lanes_mask(left > (number_real)(0)) &
                           lanes_mask(state->disc.m * by * radius * more * 2 <= left) &
                           lanes_mask(radius <= state->disc.most);
  const int_lanes first = near & lanes_mask(state->disc.l == (number_real)(0));
  state->disc.l = scaled_choose(state->disc.l, (number_real)(DISC_FAILED), near & turn_disc_followed(state) & ~proved);
  seen->z = scaled_keep(seen->z, state->z, first);
  step_errors_see(state, first);
  disc_begin(state, first);
  return proved;
}

/* The lanes of the mask are seen anew: discs of those that have had a near return begin where they are. */
INLINED void turn_disc_see(orbit_state *state, int_lanes mask) {
  disc_begin(state, mask & lanes_mask(state->disc.l != (number_real)(0)));
}
