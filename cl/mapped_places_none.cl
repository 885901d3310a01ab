/* Every place of the reference is one iteration: mapped_places.cl says what these are for. */
#define turn_mapped_at(method, place) false
#define turn_target(method, record, place) ((place) + turn_length(method, record))
