//@ expect: output
// fts changes the current directory as it goes, in each version for itself.
#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void) {
  char *roots[] = {"tree", NULL}, directory[4096];
  mkdir("tree", 0777);
  mkdir("tree/a", 0777);
  mkdir("tree/a/b", 0777);
  mkdir("tree/c", 0777);
  FTS *walk = fts_open(roots, FTS_PHYSICAL, NULL);
  for (FTSENT *entry; (entry = fts_read(walk));)
    printf("%d %s %s %s in %s\n", entry->fts_info, entry->fts_path, entry->fts_name, entry->fts_accpath,
           strrchr(getcwd(directory, sizeof directory), '/'));
  printf("%d %s\n", fts_close(walk), strrchr(getcwd(directory, sizeof directory), '/'));
  walk = fts_open(roots, FTS_PHYSICAL, NULL);
  for (FTSENT *entry; (entry = fts_read(walk)) && entry->fts_level < V;)
    ;
  printf("stopped in %s\n", strrchr(getcwd(directory, sizeof directory), '/'));
  printf("%d %s\n", fts_close(walk), strrchr(getcwd(directory, sizeof directory), '/'));
  return 0;
}
