/* The Mandelbrot set's components: a radius around a point of one that lies in it, by a theorem on exact numbers.
 *
 * Where c0 has an attracting cycle of period p and multiplier λ, |λ| < 1, it lies in a component that λ maps one to one
 * onto the unit disc (Douady and Hubbard), so by Koebe's quarter theorem no point nearer than (1 − |λ|²) / (4 |dλ/dc|)
 * lies outside it. Cycle and λ are computed here, in the type in which orbits go on to the smooth radius, not bounded.
 * */

/* z seems to have come back: near enough for Newton's method to find the cycle. */
#define COMPONENT_NEAR 1e-3f
#define COMPONENT_NEWTONS 8
/* How small |f(z) − z|·|f″| / |f′ − 1|² must be for there to be a cycle (Kantorovich: 1/2), and little else near it;
 * and |f(z) − z| / |f′ − 1|, lest z is only near where f″ happens to be small. */
#define COMPONENT_SURE 0.00390625f
#define COMPONENT_STILL 1e-5f

static number_far component_times(number_far a, number_far b) {
  const number_far product = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  return product;
}

static number_far_real component_norm(number_far z) {
  return z.re * z.re + z.im * z.im;
}

/* a/b */
static number_far component_over(number_far a, number_far b) {
  const number_far_real norm = component_norm(b);
  const number_far quotient = {(a.re * b.re + a.im * b.im) / norm, (a.im * b.re - a.re * b.im) / norm};
  return quotient;
}

static number_far component_twice(number_far z) {
  const number_far twice = {z.re + z.re, z.im + z.im};
  return twice;
}

static number_far component_plus(number_far a, number_far b) {
  const number_far sum = {a.re + b.re, a.im + b.im};
  return sum;
}

static number_far component_real(number_far_real re) {
  const number_far z = {re, (number_far_real)(0)};
  return z;
}

/* After how many steps the critical orbit seems to come back, 0 where it does not in `limit` steps; z is where. */
static uint_lanes component_period(number_far c, int_lanes running, uint limit, number_far *z) {
  uint_lanes period = (uint_lanes)(0);
  uint mark_step = 0;
  number_far mark = component_real((number_far_real)(0)), next = mark;
  for (uint k = 1; k <= limit && lanes_any(running); k++) {
    next = component_plus(component_times(next, next), c);
    const number_far moved = {next.re - mark.re, next.im - mark.im};
    const int_lanes back = running & lanes_mask(fabs(moved.re) + fabs(moved.im) <= COMPONENT_NEAR);
    period = select(period, (uint_lanes)(k - mark_step), back);
    *z = number_far_keep(*z, next, back);
    running &= ~back & lanes_mask(component_norm(next) <= 4);
    if ((k & (k - 1)) == 0) {
      mark = next;
      mark_step = k;
    }
  }
  return period;
}

/* Return the point of a cycle of that period that is nearest to `start`. */
static number_far component_cycle(number_far start, number_far c, uint_lanes period) {
  number_far z = start;
  for (uint newton = 0; newton < COMPONENT_NEWTONS; newton++) {
    number_far image = z, slope = component_real((number_far_real)(1));
    int_lanes running = lanes_mask(period > (uint_lanes)(0));
    for (uint k = 0; lanes_any(running); running = lanes_mask(period > (uint_lanes)(++k))) {
      slope = number_far_keep(slope, component_times(component_twice(image), slope), running);
      image = number_far_keep(image, component_plus(component_times(image, image), c), running);
    }
    const number_far off = {image.re - z.re, image.im - z.im}, less = {slope.re - 1, slope.im};
    const number_far move = component_over(off, less);
    z.re -= move.re;
    z.im -= move.im;
  }
  return z;
}

/* A radius around c that lies in c's component; 0 or less where none is known. `unit` is what rounding does to a step.
 * */
static number_far_real formula_component_radius(number_far c, uint limit, float unit) {
  number_far z = component_real((number_far_real)(0));
  uint_lanes period = component_period(c, (int_lanes)(-1), limit, &z);
  period = select(period, (uint_lanes)(0),
                  lanes_mask(period > (uint_lanes)(limit / COMPONENT_NEWTONS))); /* it would cost too much */
  z = component_cycle(z, c, period);
  /* The period's map, by z and by c, once and twice. What came back may have gone round more than once: λ is that of
   * the first return, else it is no map one to one. */
  number_far by_z = component_real((number_far_real)(1)), by_c = component_real((number_far_real)(0));
  number_far by_zz = by_c, by_zc = by_c, image = z;
  int_lanes running = lanes_mask(period > (uint_lanes)(0));
  for (uint k = 1; lanes_any(running); k++) {
    const number_far zc = component_plus(component_times(image, by_zc), component_times(by_c, by_z));
    const number_far zz = component_plus(component_times(by_z, by_z), component_times(image, by_zz));
    const number_far once = component_plus(component_twice(component_times(image, by_c)),
                                           component_real((number_far_real)(1)));
    by_zc = number_far_keep(by_zc, component_twice(zc), running);
    by_zz = number_far_keep(by_zz, component_twice(zz), running);
    by_c = number_far_keep(by_c, once, running);
    by_z = number_far_keep(by_z, component_twice(component_times(image, by_z)), running);
    image = number_far_keep(image, component_plus(component_times(image, image), c), running);
    running &= lanes_mask(period > (uint_lanes)(k)) &
               lanes_mask(fabs(image.re - z.re) + fabs(image.im - z.im) > COMPONENT_NEAR);
  }
  const number_far less = {1 - by_z.re, -by_z.im}, off = {image.re - z.re, image.im - z.im};
  const number_far turn = component_plus(by_zc, component_over(component_times(by_zz, by_c), less));
  /* What is left of Newton's way, rounding included, which a period carries along as it does a change of c. */
  const number_far_real still = fabs(off.re) + fabs(off.im);
  const number_far_real left = still + 16 * unit * (1 + sqrt(component_norm(by_c)));
  const number_far_real bend = left * sqrt(component_norm(by_zz)), steep = sqrt(component_norm(less));
  const number_far_real radius = (1 - component_norm(by_z) - 4 * bend / steep) / (4 * sqrt(component_norm(turn)));
  const int_lanes found = lanes_mask(period > (uint_lanes)(0)) & lanes_mask(bend <= COMPONENT_SURE * steep * steep) &
                          lanes_mask(still <= COMPONENT_STILL * steep);
  number_far kept = component_real((number_far_real)(0));
  kept = number_far_keep(kept, component_real(radius), found);
  return kept.re;
}
