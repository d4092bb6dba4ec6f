/* Enumerations of small system files in libc's static buffers, per version: mounts, shells, terminals.
 *
 * /etc/fstab, /etc/ttys and /etc/shells are read anew for each step, so no version keeps a descriptor. */
#include "p3v_libc.h"
#include <fstab.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <ttyent.h>
#include <unistd.h>

FILE *SHIM(fopen)(const char *path, const char *mode);

FILE *SHIM(setmntent)(const char *path, const char *mode) {
  char extended[16];
  snprintf(extended, sizeof extended, "%.12sce", mode);
  return SHIM(fopen)(path, extended);
}

int SHIM(endmntent)(FILE *file) {
  if (file)
    SHIM(fclose)(file);
  return 1;
}

struct mntent *SHIM(getmntent)(FILE *file) {
  static struct mntent entry;
  static char bytes[4096];
  return getmntent_r(file, &entry, bytes, sizeof bytes);
}

static unsigned fstab_line;

/* The next line of /etc/fstab for which `wanted` holds. */
static struct fstab *next_fstab(bool (*wanted)(const struct fstab *, const char *), const char *name) {
  static struct fstab entry;
  static struct mntent mount;
  static char bytes[4096];
  static char *const kinds[] = {FSTAB_RW, FSTAB_RQ, FSTAB_RO, FSTAB_SW, FSTAB_XX};
  FILE *file = setmntent(_PATH_FSTAB, "r");
  if (!file)
    return NULL;
  struct fstab *found = NULL;
  for (unsigned line = 0; !found && getmntent_r(file, &mount, bytes, sizeof bytes); line++) {
    if (line < fstab_line)
      continue;
    fstab_line++;
    entry = (struct fstab){mount.mnt_fsname, mount.mnt_dir,   mount.mnt_type, mount.mnt_opts, "??",
                           mount.mnt_freq,   mount.mnt_passno};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
      if (hasmntopt(&mount, kinds[i])) {
        entry.fs_type = kinds[i];
        break;
      }
    if (wanted(&entry, name))
      found = &entry;
  }
  endmntent(file);
  return found;
}

static bool any(const struct fstab *entry, const char *name) {
  (void)entry;
  (void)name;
  return true;
}

static bool has_device(const struct fstab *entry, const char *name) {
  return strcmp(entry->fs_spec, name) == 0;
}

static bool has_directory(const struct fstab *entry, const char *name) {
  return strcmp(entry->fs_file, name) == 0;
}

int SHIM(setfsent)(void) {
  fstab_line = 0;
  return access(_PATH_FSTAB, R_OK) == 0;
}

void SHIM(endfsent)(void) { fstab_line = 0; }

struct fstab *SHIM(getfsent)(void) { return next_fstab(any, NULL); }

struct fstab *SHIM(getfsspec)(const char *device) {
  fstab_line = 0;
  return next_fstab(has_device, device);
}

struct fstab *SHIM(getfsfile)(const char *directory) {
  fstab_line = 0;
  return next_fstab(has_directory, directory);
}

/* The list of shells stays valid until endusershell or setusershell. */
static char **shells;
static size_t shell_count, next_shell;

static void drop_shells(void) {
  for (size_t i = 0; i < shell_count; i++)
    free(shells[i]);
  free(shells);
  shells = NULL;
  shell_count = next_shell = 0;
}

static void load_shells(void) {
  drop_shells();
  setusershell();
  for (char *shell; (shell = getusershell());) {
    char **longer = realloc(shells, (shell_count + 1) * sizeof *shells);
    char *copy = strdup(shell);
    if (longer)
      shells = longer;
    if (!longer || !copy) {
      free(copy);
      break;
    }
    shells[shell_count++] = copy;
  }
  endusershell();
}

char *SHIM(getusershell)(void) {
  if (!shells)
    load_shells();
  return next_shell < shell_count ? shells[next_shell++] : NULL;
}

void SHIM(setusershell)(void) { load_shells(); }
void SHIM(endusershell)(void) { drop_shells(); }

static unsigned terminal_line;

/* Copies *text behind what is in `bytes` already. */
static void keep(char **text, char *bytes, size_t size, size_t *used) {
  if (!*text)
    return;
  size_t length = strlen(*text) + 1;
  if (length > size - *used)
    length = size - *used;
  *text = length ? memcpy(bytes + *used, *text, length) : NULL;
  *used += length;
}

struct ttyent *SHIM(getttyent)(void) {
  static struct ttyent entry;
  static char bytes[256];
  struct ttyent *found = NULL;
  if (!setttyent())
    return NULL;
  for (unsigned line = 0; line <= terminal_line && (found = getttyent()); line++)
    ;
  if (found) {
    size_t used = 0;
    terminal_line++;
    entry = *found;
    keep(&entry.ty_name, bytes, sizeof bytes, &used);
    keep(&entry.ty_getty, bytes, sizeof bytes, &used);
    keep(&entry.ty_type, bytes, sizeof bytes, &used);
    keep(&entry.ty_window, bytes, sizeof bytes, &used);
    keep(&entry.ty_comment, bytes, sizeof bytes, &used);
  }
  endttyent();
  return found ? &entry : NULL;
}

int SHIM(setttyent)(void) {
  terminal_line = 0;
  return access(_PATH_TTYS, R_OK) == 0;
}

int SHIM(endttyent)(void) {
  terminal_line = 0;
  return 1;
}

struct ttyent *SHIM(getttynam)(const char *name) {
  struct ttyent *entry;
  SHIM(setttyent)();
  while ((entry = SHIM(getttyent)()) && strcmp(entry->ty_name, name) != 0)
    ;
  SHIM(endttyent)();
  return entry;
}
