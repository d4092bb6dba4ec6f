// epoll on standard input: level- and edge-triggered, one shot, and after the other version has read everything.
//@ stdin: pipe "one\ntwo\n"
//@ expect: output
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

static int epoll;

static void ask(const char *what) {
  struct epoll_event found[4];
  int count = epoll_wait(epoll, found, 4, 50);
  printf("%s: %d", what, count);
  for (int i = 0; i < count; i++)
    printf(" %d:%d", (int)found[i].data.u32, (found[i].events & EPOLLIN) != 0);
  putchar('\n');
}

int main(void) {
  char byte, rest[16];
  epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = 7};
  printf("%d\n", epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event));
  printf("%d %d\n", epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event), errno == EEXIST);
  ask("level");
  read(0, &byte, 1);
  ask("level again");
  event = (struct epoll_event){.events = EPOLLIN | EPOLLONESHOT, .data.u32 = 8};
  epoll_ctl(epoll, EPOLL_CTL_MOD, 0, &event);
  ask("one shot");
  ask("spent");
  event = (struct epoll_event){.events = EPOLLIN | EPOLLET, .data.u32 = 9};
  epoll_ctl(epoll, EPOLL_CTL_MOD, 0, &event);
  ask("edge");
  printf("%zd\n", read(0, rest, sizeof rest));
  epoll_ctl(epoll, EPOLL_CTL_DEL, 0, NULL);
  ask("removed");
  close(epoll);
  epoll = epoll_create1(0);
  ask("new");
  printf("%c %d\n", byte, V);
  return 0;
}
