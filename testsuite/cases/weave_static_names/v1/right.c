static long state = 100;

static int helper(int x) {
  while (state > x && state > 90)
    state--;
  return (int)state;
}

int right(int x) { return helper(x) + helper(2 * x); }
