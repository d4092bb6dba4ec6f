/* What AFL++ has of its own for its CMPLOG; without AFL++ nobody listens. */
#include "harness.h"

#define WEAK __attribute__((weak))

WEAK void __cmplog_rtn_hook_n(const void *a, const void *b, uint64_t size);
WEAK void __cmplog_rtn_hook_str(const char *a, const char *b);
WEAK void __cmplog_rtn_hook_strn(const char *a, const char *b, uint64_t size);

WEAK void __cmplog_rtn_hook_n(const void *a, const void *b, uint64_t size) { (void)a, (void)b, (void)size; }
WEAK void __cmplog_rtn_hook_str(const char *a, const char *b) { (void)a, (void)b; }
WEAK void __cmplog_rtn_hook_strn(const char *a, const char *b, uint64_t size) { (void)a, (void)b, (void)size; }
