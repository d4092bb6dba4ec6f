// Hosts, services, protocols and networks: result buffers, places in the enumerations, h_errno.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  struct protoent *protocol;
  struct servent *service;
  for (int i = 0; i < 5 && (protocol = getprotoent()); i++)
    printf("%s %d\n", protocol->p_name, protocol->p_proto);
  for (int i = 0; i < 3 && (service = getservent()); i++)
    printf("%s %d %s\n", service->s_name, ntohs(service->s_port), service->s_proto);
  if ((protocol = getprotobyname("tcp")) && (service = getservbyport(htons(80), "tcp")))
    printf("%s %s %s\n", protocol->p_name, getprotobynumber(17)->p_name, service->s_name);
  if ((protocol = getprotoent()) && (service = getservent()))
    printf("%s %s\n", protocol->p_name, service->s_name);
  struct hostent *host = gethostbyname("127.0.0.1");
  printf("%s %d\n", host->h_name, host->h_length);
  host = gethostbyname("127.0.0.2");
  struct in_addr address = *(struct in_addr *)host->h_addr_list[0];
  char *text = inet_ntoa(address);
  printf("%s\n", text);
  address.s_addr = htonl(0x01020304);
  inet_ntoa(address);
  printf("%s\n", text);
  h_errno = HOST_NOT_FOUND;
  herror("asked");
  herror(NULL);
  struct ether_addr *ethernet = ether_aton("1:2:3:a:b:c");
  printf("%s\n", ether_ntoa(ethernet));
  return 0;
}
