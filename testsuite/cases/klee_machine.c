// A state machine with large switches over a symbolic string, woven with itself: as many paths as alone.
//@ args: abxcz
//@ klee: paths-equal --sym-arg 4
enum state { START, WORD, NUMBER, SIGN, QUOTED, ESCAPED, COMMENT, END, BAD };

static int weight;

static enum state next(enum state state, char c) {
  switch (state) {
  case START:
    switch (c) {
    case ' ':
    case '\t':
      return START;
    case '0':
    case '1':
    case '2':
    case '3':
      weight += c - '0';
      return NUMBER;
    case '+':
    case '-':
      return SIGN;
    case 'a':
    case 'b':
    case 'c':
    case 'x':
    case 'y':
    case 'z':
      weight++;
      return WORD;
    case '"':
      return QUOTED;
    case '#':
      return COMMENT;
    default:
      return BAD;
    }
  case WORD:
    switch (c) {
    case 'a':
    case 'x':
      weight += 2;
    case 'b':
      return WORD;
    case ' ':
      return START;
    case '.':
      return END;
    default:
      return BAD;
    }
  case SIGN:
    return c >= '0' && c <= '3' ? NUMBER : BAD;
  case NUMBER:
    return c == ' ' ? START : c == '.' ? END : c == '1' ? NUMBER : BAD;
  case QUOTED:
    return c == '"' ? START : c == '\\' ? ESCAPED : QUOTED;
  case ESCAPED:
    return QUOTED;
  case COMMENT:
    return c == '\n' ? START : COMMENT;
  case END:
    weight *= 2;
    return BAD;
  default:
    return state;
  }
}

int main(int argc, char **argv) {
  enum state state = START;
  for (const char *s = argc > 1 ? argv[1] : ""; *s && state != BAD; s++)
    state = next(state, *s);
  return state == BAD ? 100 : weight;
}
