struct node {
  int value;
};
static struct node state = {1};

static int helper(int x) {
  state.value += x;
  return state.value * 2;
}

int left(int x) { return helper(x) + helper(1); }
