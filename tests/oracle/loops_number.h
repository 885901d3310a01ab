/* The loops of one NUMBER, in each order. */
#define ORDER SEPARATE
#define ORDER_NAME separate
#include "loops_order.h"
#undef ORDER
#undef ORDER_NAME

#define ORDER FUSED
#define ORDER_NAME fused
#include "loops_order.h"
#undef ORDER
#undef ORDER_NAME

#define ORDER AVX
#define ORDER_NAME avx
#include "loops_order.h"
#undef ORDER
#undef ORDER_NAME
