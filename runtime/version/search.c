/* hcreate, hsearch and hdestroy, per version: the table that libc has only one of. */
#include "p3v_libc.h"
#include <search.h>

static struct hsearch_data table;

int SHIM(hcreate)(size_t size) { return hcreate_r(size, &table); }

ENTRY *SHIM(hsearch)(ENTRY item, ACTION action) {
  ENTRY *found;
  hsearch_r(item, action, &found, &table);
  return found;
}

void SHIM(hdestroy)(void) { hdestroy_r(&table); }
