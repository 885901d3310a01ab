/* What an iterate adds to the planes of an orbit's last iterates, in floats: sums and products, each rounded once. A
 * part below 2⁻⁶⁰ counts as 0, so that no denormal number matters. Where z is 0, or so far out that |z|² leaves the
 * floats, a share is 1/2: nothing is known of its direction. */
#define TRAIL_LEAST_PART 0x1p-60f
#define TRAIL_MOST_PART 0x1p60f
#define TRAIL_NOTHING 0x1p100f /* the distance from a trap where there was no iterate */

typedef struct {
  float_lanes re, im;
} trail_point;

static float_lanes trail_cut(float_lanes part, float least) {
  return select(part, (float_lanes)(0), lanes_mask(fabs(part) < least));
}

static trail_point trail_point_from(number_far z) {
  const trail_point point = {trail_cut(number_far_to_float(z.re), TRAIL_LEAST_PART),
                             trail_cut(number_far_to_float(z.im), TRAIL_LEAST_PART)};
  return point;
}

static float_lanes trail_norm(trail_point z) {
  return z.re * z.re + z.im * z.im;
}

/* Mask of the points of which a root is taken: others are 0, far out, or none at all. */
static int_lanes trail_measured(trail_point z) {
  const float_lanes larger = fmax(fabs(z.re), fabs(z.im));
  return lanes_mask(larger >= TRAIL_LEAST_PART) & lanes_mask(fabs(z.re) <= TRAIL_MOST_PART) &
         lanes_mask(fabs(z.im) <= TRAIL_MOST_PART);
}

/* 1/√x, within 2⁻²¹ of it: three steps of Newton's method. Devices round roots and quotients in different ways. */
static float_lanes trail_inverse_root(float_lanes x) {
  const float_lanes halved = 0.5f * x;
  float_lanes inverse = LANED(as_float)((int_lanes)(0x5f3759df) - (LANED(as_int)(x) >> 1));
  for (uint step = 0; step < 3; step++) inverse = inverse * (1.5f - (halved * inverse) * inverse);
  return inverse;
}

/* (1 + sin(k·arg z))/2, by the k-th power of z/|z|. */
static float_lanes trail_stripe(trail_point z, uint k) {
  const float_lanes inverse = trail_inverse_root(trail_norm(z));
  const trail_point unit = {trail_cut(z.re * inverse, 0x1p-30f), trail_cut(z.im * inverse, 0x1p-30f)};
  trail_point power = unit;
  for (uint step = 1; step < k; step++) {
    const trail_point next = {power.re * unit.re - power.im * unit.im, power.re * unit.im + power.im * unit.re};
    power.re = trail_cut(next.re, 0x1p-30f);
    power.im = trail_cut(next.im, 0x1p-30f);
  }
  return select((float_lanes)(0.5f), 0.5f + 0.5f * power.im, trail_measured(z));
}

/* Where |z| lies between the least and the largest that the triangle inequality allows for z = p + c. */
static float_lanes trail_triangle(trail_point z, trail_point c) {
  const trail_point p = {trail_cut(z.re - c.re, TRAIL_LEAST_PART), trail_cut(z.im - c.im, TRAIL_LEAST_PART)};
  const int_lanes measured = trail_measured(z) & trail_measured(p) & trail_measured(c);
  const float_lanes by_p = trail_inverse_root(trail_norm(p)), by_c = trail_inverse_root(trail_norm(c));
  const float_lanes z_size = trail_norm(z) * trail_inverse_root(trail_norm(z));
  const float_lanes least = fabs(trail_norm(p) * by_p - trail_norm(c) * by_c);
  const float_lanes share = (z_size - least) * (0.5f * fmax(by_p, by_c));
  const float_lanes within = fmin(fmax(select((float_lanes)(0.5f), share, measured), 0.0f), 1.0f);
  return within;
}

/* How far z is from a trap: |z|² for the point 0, |z| − 1 for the unit circle, and the nearer axis for the cross. */
static float_lanes trail_distance(float_lanes distance, trail_point z) {
  return select((float_lanes)(TRAIL_NOTHING), distance, lanes_mask(fabs(z.re) <= TRAIL_MOST_PART) &
                                                        lanes_mask(fabs(z.im) <= TRAIL_MOST_PART));
}

static float_lanes trail_from_point(trail_point z) {
  return trail_distance(trail_norm(z), z);
}

static float_lanes trail_from_cross(trail_point z) {
  return trail_distance(fmin(fabs(z.re), fabs(z.im)), z);
}

static float_lanes trail_from_circle(trail_point z) {
  const float_lanes size = select((float_lanes)(0), trail_norm(z) * trail_inverse_root(trail_norm(z)),
                                  trail_measured(z));
  return trail_distance(fabs(size - 1.0f), z);
}
