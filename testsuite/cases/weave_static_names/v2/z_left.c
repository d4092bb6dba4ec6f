struct node {
  long weight;
  int value;
};
static struct node state = {3, 1};

static int helper(int x) {
  state.value += x;
  if (x > 6)
    state.value += state.weight;
  return state.value * 2;
}

int left(int x) { return helper(x) + helper(1); }
