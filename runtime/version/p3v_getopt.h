/* The option scanner behind getopt and argp. */
#ifndef P3V_GETOPT_H
#define P3V_GETOPT_H

#include <getopt.h>
#include <stdbool.h>

/* What to do with an argument that is no option, met before the last option. */
enum p3v_order {
  P3V_PERMUTE,    /* move it behind the options */
  P3V_STOP,       /* end the scan */
  P3V_RETURN_ONE, /* hand it out as the argument of option 1 */
};

/* A scan of argv. All zero at first. */
struct p3v_getopt {
  int index;      /* as optind; 0 begins anew */
  bool report;    /* as opterr */
  int rejected;   /* as optopt */
  char *argument; /* as optarg */
  /* The rest is the scanner's own. */
  bool started;
  enum p3v_order order;
  char *cluster; /* rest of the short options in the current argument; null or "" between arguments */
  /* argv[skipped .. skipped_end) are non-options passed over; options read since end at `index`. */
  int skipped, skipped_end;
};

/* One call of getopt_long or, with `longs` null, getopt. posix: as if POSIXLY_CORRECT were set. */
int p3v_getopt_next(struct p3v_getopt *scan, int argc, char **argv, const char *optstring,
                    const struct option *longs, int *index, bool long_only, bool posix);

#endif
