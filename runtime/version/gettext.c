/* Message catalogues, per version: the current domain, and where each domain's catalogues are.
 *
 * libc has one table of bindings. Before a message is looked up, the version's binding of its domain
 * is put there; that costs a comparison if it is there already. In KLEE, whose libc has no
 * catalogues, messages are not translated. */
#include "p3v_libc.h"
#include <langinfo.h>
#include <libintl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static char default_domain[] = "messages";
static char *current_domain = default_domain;

struct binding {
  struct binding *next;
  char *directory; /* null: libc's default */
  char *codeset;   /* null: that of the locale */
  char domain[];
};
static struct binding *bindings;

/* Catalogues of a domain that nobody has bound are in libc's default directory. */
static char *default_directory(void) { return bindtextdomain("p3-ir unbound", NULL); }

static struct binding *find_binding(const char *domain) {
  struct binding *at = bindings;
  while (at && strcmp(at->domain, domain) != 0)
    at = at->next;
  return at;
}

static struct binding *make_binding(const char *domain) {
  struct binding *binding = find_binding(domain);
  if (binding)
    return binding;
  binding = malloc(sizeof *binding + strlen(domain) + 1);
  if (binding) {
    *binding = (struct binding){.next = bindings};
    strcpy(binding->domain, domain);
    bindings = binding;
  }
  return binding;
}

/* Makes libc's binding of `domain` the version's. */
static void install_binding(const char *domain) {
  struct binding *mine = find_binding(domain);
  char *directory = mine && mine->directory ? mine->directory : default_directory();
  char *present = bindtextdomain(domain, NULL);
  if (directory && present && strcmp(present, directory) != 0)
    bindtextdomain(domain, directory);

  char *codeset = mine ? mine->codeset : NULL;
  present = bind_textdomain_codeset(domain, NULL);
  if (!codeset && present)
    codeset = nl_langinfo(CODESET);
  if (codeset && (!present || strcmp(present, codeset) != 0))
    bind_textdomain_codeset(domain, codeset);
}

/* Replaces *slot by a copy of `value` and returns that. Strings returned before stay valid. */
static char *replace(char **slot, const char *value) {
  if (!*slot || strcmp(*slot, value) != 0) {
    char *copy = strdup(value);
    if (!copy)
      return NULL;
    *slot = copy;
  }
  return *slot;
}

char *SHIM(textdomain)(const char *domain) {
  if (!domain)
    return current_domain;
  return replace(&current_domain, *domain ? domain : default_domain);
}

char *SHIM(bindtextdomain)(const char *domain, const char *directory) {
  if (!domain || !*domain)
    return NULL;
  struct binding *binding = directory ? make_binding(domain) : find_binding(domain);
  if (directory)
    return binding ? replace(&binding->directory, directory) : NULL;
  if (binding && binding->directory)
    return binding->directory;
  return p3_in_klee() ? NULL : default_directory();
}

char *SHIM(bind_textdomain_codeset)(const char *domain, const char *codeset) {
  if (!domain || !*domain)
    return NULL;
  struct binding *binding = codeset ? make_binding(domain) : find_binding(domain);
  if (!binding)
    return NULL;
  return codeset ? replace(&binding->codeset, codeset) : binding->codeset;
}

/* Prepares a look-up in `domain` (null: the current one) and returns the domain. */
static const char *prepare(const char *domain) {
  p3v_attend_environ();
  if (!domain)
    domain = current_domain;
  install_binding(domain);
  return domain;
}

char *SHIM(dcgettext)(const char *domain, const char *message, int category) {
  if (p3_in_klee() || !message)
    return (char *)message;
  return dcgettext(prepare(domain), message, category);
}

char *SHIM(dcngettext)(const char *domain, const char *one, const char *many, unsigned long count,
                       int category) {
  if (p3_in_klee() || !one)
    return (char *)(count == 1 ? one : many);
  return dcngettext(prepare(domain), one, many, count, category);
}

char *SHIM(gettext)(const char *message) { return SHIM(dcgettext)(NULL, message, LC_MESSAGES); }

char *SHIM(dgettext)(const char *domain, const char *message) {
  return SHIM(dcgettext)(domain, message, LC_MESSAGES);
}

char *SHIM(__dgettext)(const char *domain, const char *message) { return SHIM(dgettext)(domain, message); }

char *SHIM(__dcgettext)(const char *domain, const char *message, int category) {
  return SHIM(dcgettext)(domain, message, category);
}

char *SHIM(ngettext)(const char *one, const char *many, unsigned long count) {
  return SHIM(dcngettext)(NULL, one, many, count, LC_MESSAGES);
}

char *SHIM(dngettext)(const char *domain, const char *one, const char *many, unsigned long count) {
  return SHIM(dcngettext)(domain, one, many, count, LC_MESSAGES);
}
