/* The test |w|² > R² where the reference lies near |Z| = R, for advance_turns.cl. There |w|² in plain numbers has too
 * few bits, and the method's words have |Z|² − R², to the number's precision and with an exponent of its own. With w =
 * Z + z,
 *     |w|² − R² = (|Z|² − R²) + 2·Re(Z̄·z) + |z|²
 * Only references of version 2 have such edges. */

/* An edge is an index of the reference's, an exponent and a real; they are in ascending order. */
#define TURN_EDGE_WORDS 4
#define TURN_NEAR 0x1p-11f       /* from R², where there may be an edge: those are below 2^−12 */
#define TURN_NEAR_SHARE 0x1p-18f /* of R² more, for what |w|² is rounded by */

typedef struct {
  number_real value; /* times 2^e, as all here */
  int_lanes e;
} turn_edge;

/* Mask of the lanes with |w|² of `square` so near to R² that an edge decides, if there is one. */
static int_lanes turn_near(global const uint *method, number_real square, number_real radius_squared) {
  if (!method[METHOD_EDGE_TOTAL]) return (int_lanes)(0);
  const number_real margin = fma(radius_squared, (number_real)(TURN_NEAR_SHARE), (number_real)(TURN_NEAR));
  return lanes_mask(fabs(square - radius_squared) <= margin);
}

/* Return whether the reference has an edge at an index, and which. */
static bool turn_edge_find(global const uint *method, uint index, turn_edge *edge) {
  uint low = 0, high = method[METHOD_EDGE_TOTAL];
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (method_part(method, METHOD_EDGES, TURN_EDGE_WORDS, middle)[0] < index)
      low = middle + 1;
    else
      high = middle;
  }
  global const uint *words = method_part(method, METHOD_EDGES, TURN_EDGE_WORDS, low);
  if (low == method[METHOD_EDGE_TOTAL] || words[0] != index) return false;
  edge->e = (int_lanes)((int)words[1]);
  edge->value = (number_real)(method_real(words + 2));
  return true;
}

/* |Z + z|² − R². */
static turn_edge turn_excess(turn_edge edge, scaled reference, scaled z) {
  const number_real along = fma(reference.z.re, z.z.re, reference.z.im * z.z.im);
  const number_real change = fma(scaled_norm(z.z), scaled_power(z.e), along + along);
  const int_lanes e = select(max(edge.e, z.e), edge.e, lanes_mask(change == (number_real)(0)));
  const turn_edge excess = {fma(edge.value, scaled_power(edge.e - e), change * scaled_power(z.e - e)), e};
  return excess;
}

/* Mask of the lanes at an index of the reference that have left the disc, with |w|² of `square` in plain numbers. */
static int_lanes turn_outside(global const uint *method, uint index, scaled reference, scaled z, number_real square,
                              number_real radius_squared) {
  const int_lanes outside = lanes_mask(!(square <= radius_squared)), near = turn_near(method, square, radius_squared);
  turn_edge edge;
  if (!lanes_any(near) || !turn_edge_find(method, index, &edge)) return outside;
  const turn_edge excess = turn_excess(edge, reference, z);
  return select(outside, lanes_mask(excess.value > (number_real)(0)), near);
}
