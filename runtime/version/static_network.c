/* The network databases and h_errno, per version; see p3v_database.h. */
#include "p3v_database.h"
#include <aliases.h>
#include <netdb.h>
#include <rpc/netdb.h>
#include <string.h>

static _Thread_local int host_error;

int *SHIM(__h_errno_location)(void) { return &host_error; }

void SHIM(herror)(const char *text) {
  if (text && *text)
    p3v_complain("%s: %s\n", text, hstrerror(host_error));
  else
    p3v_complain("%s\n", hstrerror(host_error));
}

static void begin_aliases(int stay_open) {
  (void)stay_open;
  setaliasent();
}

static int next_host(struct hostent *entry, char *bytes, size_t size, struct hostent **result) {
  return gethostent_r(entry, bytes, size, result, &host_error);
}

static int next_network(struct netent *entry, char *bytes, size_t size, struct netent **result) {
  return getnetent_r(entry, bytes, size, result, &host_error);
}

P3V_ENUMERATION(struct hostent, P3_HOSTS, gethostent, endhostent, next_host, sethostent)
P3V_BEGIN_STAY_OPEN(P3_HOSTS, sethostent)

P3V_ENUMERATION(struct netent, P3_NETWORKS, getnetent, endnetent, next_network, setnetent)
P3V_BEGIN_STAY_OPEN(P3_NETWORKS, setnetent)

P3V_ENUMERATION(struct protoent, P3_PROTOCOLS, getprotoent, endprotoent, getprotoent_r, setprotoent)
P3V_BEGIN_STAY_OPEN(P3_PROTOCOLS, setprotoent)
P3V_STEP(struct protoent, P3_PROTOCOLS, getprotoent_r)

P3V_ENUMERATION(struct servent, P3_SERVICES, getservent, endservent, getservent_r, setservent)
P3V_BEGIN_STAY_OPEN(P3_SERVICES, setservent)
P3V_STEP(struct servent, P3_SERVICES, getservent_r)

P3V_ENUMERATION(struct rpcent, P3_RPC, getrpcent, endrpcent, getrpcent_r, setrpcent)
P3V_BEGIN_STAY_OPEN(P3_RPC, setrpcent)
P3V_STEP(struct rpcent, P3_RPC, getrpcent_r)

P3V_ENUMERATION(struct aliasent, P3_ALIASES, getaliasent, endaliasent, getaliasent_r, begin_aliases)
P3V_BEGIN(P3_ALIASES, setaliasent)
P3V_STEP(struct aliasent, P3_ALIASES, getaliasent_r)

int SHIM(gethostent_r)(struct hostent *entry, char *bytes, size_t size, struct hostent **result, int *error) {
  int code = step_P3_HOSTS(entry, bytes, size, result);
  *error = host_error;
  return code;
}

int SHIM(getnetent_r)(struct netent *entry, char *bytes, size_t size, struct netent **result, int *error) {
  int code = step_P3_NETWORKS(entry, bytes, size, result);
  *error = host_error;
  return code;
}

P3V_LOOK_UP(struct hostent, gethostbyname, (const char *name),
            gethostbyname_r(name, &entry, buffer.bytes, buffer.size, &result, &host_error))
P3V_LOOK_UP(struct hostent, gethostbyname2, (const char *name, int family),
            gethostbyname2_r(name, family, &entry, buffer.bytes, buffer.size, &result, &host_error))
P3V_LOOK_UP(struct hostent, gethostbyaddr, (const void *address, socklen_t length, int family),
            gethostbyaddr_r(address, length, family, &entry, buffer.bytes, buffer.size, &result, &host_error))
P3V_LOOK_UP(struct netent, getnetbyname, (const char *name),
            getnetbyname_r(name, &entry, buffer.bytes, buffer.size, &result, &host_error))
P3V_LOOK_UP(struct netent, getnetbyaddr, (uint32_t address, int family),
            getnetbyaddr_r(address, family, &entry, buffer.bytes, buffer.size, &result, &host_error))
P3V_LOOK_UP(struct protoent, getprotobyname, (const char *name),
            getprotobyname_r(name, &entry, buffer.bytes, buffer.size, &result))
P3V_LOOK_UP(struct protoent, getprotobynumber, (int number),
            getprotobynumber_r(number, &entry, buffer.bytes, buffer.size, &result))
P3V_LOOK_UP(struct servent, getservbyname, (const char *name, const char *protocol),
            getservbyname_r(name, protocol, &entry, buffer.bytes, buffer.size, &result))
P3V_LOOK_UP(struct servent, getservbyport, (int port, const char *protocol),
            getservbyport_r(port, protocol, &entry, buffer.bytes, buffer.size, &result))
P3V_LOOK_UP(struct rpcent, getrpcbyname, (const char *name),
            getrpcbyname_r(name, &entry, buffer.bytes, buffer.size, &result))
P3V_LOOK_UP(struct rpcent, getrpcbynumber, (int number),
            getrpcbynumber_r(number, &entry, buffer.bytes, buffer.size, &result))
P3V_LOOK_UP(struct aliasent, getaliasbyname, (const char *name),
            getaliasbyname_r(name, &entry, buffer.bytes, buffer.size, &result))

/* Netgroups: the enumeration is of one group's members. */
static struct {
  char *group;
  unsigned count;
} members;

int SHIM(setnetgrent)(const char *group) {
  char *copy = strdup(group);
  free(members.group);
  members.group = copy;
  members.count = 0;
  p3_position_owner[P3_NETGROUP] = p3v_index + 1;
  return setnetgrent(group);
}

int SHIM(getnetgrent_r)(char **host, char **user, char **domain, char *bytes, size_t size) {
  if (p3_position_owner[P3_NETGROUP] != p3v_index + 1) {
    if (!members.group)
      return 0;
    p3_position_owner[P3_NETGROUP] = p3v_index + 1;
    setnetgrent(members.group);
    for (unsigned i = 0; i < members.count; i++) {
      char *skipped[3];
      getnetgrent(&skipped[0], &skipped[1], &skipped[2]);
    }
  }
  int found = getnetgrent_r(host, user, domain, bytes, size);
  members.count += found == 1;
  return found;
}

int SHIM(getnetgrent)(char **host, char **user, char **domain) {
  static char bytes[1024];
  return SHIM(getnetgrent_r)(host, user, domain, bytes, sizeof bytes);
}

void SHIM(endnetgrent)(void) {
  free(members.group);
  members.group = NULL;
  members.count = 0;
  if (p3_position_owner[P3_NETGROUP] == p3v_index + 1) {
    p3_position_owner[P3_NETGROUP] = 0;
    endnetgrent();
  }
}
