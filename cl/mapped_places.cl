/* Places of a reference of version 4 that a step of a return map may follow, a bit for each, and where its records
 * lead, which stand for more iterations than they pass places. Where no reference has such places,
 * mapped_places_none.cl stands here. */
#define HAS_MAPPED_PLACES

/* Whether a step of the map may follow a place. */
static bool turn_mapped_at(global const uint *method, uint place) {
  if (!method[METHOD_MAPPED]) return false;
  return (method[method[METHOD_MAPPED] + MAP_PLACES + (place >> 5)] >> (place & 31)) & 1;
}

/* The place to which a record leads. */
static uint turn_target(global const uint *method, uint record, uint place) {
  if (!method[METHOD_MAPPED]) return place + turn_length(method, record);
  return record == TURN_SINGLE ? place + 1 : method_part(method, METHOD_TARGETS, 1, record)[0];
}
