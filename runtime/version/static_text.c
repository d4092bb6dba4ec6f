/* Functions that return text in a buffer of libc, per version: libc writes into a buffer of the version. */
#include "p3v_libc.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ether.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* klee-uclibc has the POSIX function under the name strerror_r, glibc the GNU one. */
int __xpg_strerror_r(int number, char *text, size_t size);

static char *describe_error(int number, locale_t locale) {
  static _Thread_local char text[64];
  if (p3_in_klee()) {
    __xpg_strerror_r(number, text, sizeof text);
    return text;
  }
  p3v_attend_environ();
  int before = errno;
  char *description = locale ? strerror_l(number, locale) : strerror_r(number, text, sizeof text);
  /* libc's own buffer holds the description of an unknown number only. */
  if (locale && !strerrordesc_np(number)) {
    snprintf(text, sizeof text, "%s", description);
    description = text;
  }
  errno = before;
  return description;
}

char *SHIM(strerror)(int number) { return describe_error(number, NULL); }

char *SHIM(strerror_l)(int number, locale_t locale) { return describe_error(number, locale); }

char *SHIM(strsignal)(int number) {
  static _Thread_local char text[64];
  p3v_attend_environ();
  char *description = strsignal(number);
  if (p3_in_klee() || sigdescr_np(number))
    return description;
  snprintf(text, sizeof text, "%s", description);
  return text;
}

char *SHIM(l64a)(long value) {
  static const char digits[] = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  static char text[7];
  char *end = text;
  for (uint32_t rest = (uint32_t)value; rest; rest >>= 6)
    *end++ = digits[rest & 63];
  *end = '\0';
  return text;
}

char *SHIM(inet_ntoa)(struct in_addr address) {
  static _Thread_local char text[INET_ADDRSTRLEN];
  const unsigned char *bytes = (const unsigned char *)&address.s_addr;
  snprintf(text, sizeof text, "%d.%d.%d.%d", bytes[0], bytes[1], bytes[2], bytes[3]);
  return text;
}

char *SHIM(ether_ntoa)(const struct ether_addr *address) {
  static char text[18];
  return ether_ntoa_r(address, text);
}

struct ether_addr *SHIM(ether_aton)(const char *text) {
  static struct ether_addr address;
  return ether_aton_r(text, &address);
}

char *SHIM(inet_nsap_ntoa)(int length, const unsigned char *bytes, char *text) {
  static char hidden[255 * 3];
  return inet_nsap_ntoa(length, bytes, text ? text : hidden);
}
