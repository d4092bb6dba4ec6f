// Message domains: textdomain and bindtextdomain per version.
//@ run: same
//@ run: the second version binds another directory
//@ args: x
//@ expect: output
#include <libintl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  printf("%s %s\n", textdomain(NULL), bindtextdomain("domain", NULL));
  printf("%s", textdomain("domain"));
  printf(" %s\n", textdomain(NULL));
  printf("%s\n", bindtextdomain("domain", argc > 1 && V == 2 ? "/second" : "/first"));
  printf("%s\n", bindtextdomain("domain", NULL));
  printf("%s", bind_textdomain_codeset("domain", NULL) ? "?" : "none");
  printf(" %s\n", bind_textdomain_codeset("domain", "UTF-8"));
  printf("%s %s %s\n", gettext("plain"), dgettext("other", "other"), dcgettext(NULL, "third", LC_TIME));
  printf("%s %s\n", ngettext("one", "many", 1), dngettext("other", "one", "many", 5));
  setlocale(LC_ALL, "C.UTF-8");
  printf("%s\n", gettext("translated?"));
  printf("%s %s\n", textdomain(""), bindtextdomain("", "/x") ? "?" : "none");
  return 0;
}
