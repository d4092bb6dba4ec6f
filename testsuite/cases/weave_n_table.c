// Three, four and eight versions of a hash table with deletion: the bits of V - 1 are patches.
//@ versions: 4 3 8
//@ run: insert and look up
//@ args: +a +b ?a ?c
//@ run: delete
//@ args: +a +b -a ?a ?b -c
//@ expect: output
//@ run: upper case
//@ args: +a +A ?A ?a -A ?a
//@ expect: output
//@ run: not a command
//@ args: +a !
//@ expect: status
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATCH_A ((V - 1) & 1)
#define PATCH_B ((V - 1) & 2)
#define PATCH_C ((V - 1) & 4)

struct entry {
  struct entry *next;
  int count;
  char name[16];
};

static struct entry *buckets[PATCH_C ? 7 : 5];

static unsigned hash(const char *name) {
  unsigned value = 0;
  while (*name)
    value = value * 31 + (PATCH_B ? tolower(*name++) : *name++);
  return value % (sizeof buckets / sizeof *buckets);
}

static struct entry **find(const char *name) {
  struct entry **at = &buckets[hash(name)];
  while (*at && (PATCH_B ? strcasecmp((*at)->name, name) : strcmp((*at)->name, name)))
    at = &(*at)->next;
  return at;
}

static struct entry *insert(const char *name) {
  struct entry **at = find(name);
  if (!*at) {
    *at = calloc(1, sizeof **at);
    strncpy((*at)->name, name, 15);
  }
  (*at)->count++;
  return *at;
}

static int remove_entry(const char *name) {
  struct entry **at = find(name), *entry = *at;
  if (!entry)
    return PATCH_A ? -1 : 0;
#if PATCH_C
  if (--entry->count > 0)
    return entry->count;
#else
  entry->count -= 1;
  if (entry->count != 0)
    return entry->count;
#endif
  *at = entry->next;
  free(entry);
  return 0;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *name = argv[i] + 1;
    switch (argv[i][0]) {
    case '+':
      printf("%s %d\n", name, insert(name)->count);
      break;
    case '-':
      printf("%s left %d\n", name, remove_entry(name));
      break;
    case '?':
      printf("%s %s\n", name, *find(name) ? (*find(name))->name : "unknown");
      break;
    default:
      exit(PATCH_A ? 3 : PATCH_B ? 5 : 2);
    }
  }
  return 0;
}
