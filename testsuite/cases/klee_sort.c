// Sorting four symbolic bytes, woven with itself: as many paths as alone.
//@ args: dbca
//@ klee: paths-equal --sym-arg 4
static void sort(unsigned char *bytes, int count) {
  for (int i = 1; i < count; i++) {
    unsigned char x = bytes[i];
    int j = i - 1;
    while (j >= 0 && bytes[j] > x) {
      bytes[j + 1] = bytes[j];
      j--;
    }
    bytes[j + 1] = x;
  }
}

int main(int argc, char **argv) {
  unsigned char *bytes = (unsigned char *)argv[1];
  sort(bytes, 4);
  return bytes[0] == bytes[3];
}
