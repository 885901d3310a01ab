/* What operations share: bounds on z, on what a change of it makes to first order, and on what that makes beyond. */
typedef struct { number_far_real size, change, beyond; } operation_bound;
