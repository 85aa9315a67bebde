#include "tools/mrbench.h"
int bench_serve(const struct bench_options *o, const char *interface, struct err_at *reterr) { return -1; }
