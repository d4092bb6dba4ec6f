// fmtmsg: severities and MSGVERB per version.
//@ run: all parts
//@ run: some parts, a severity from the environment
//@ env: MSGVERB=label:text:severity SEV_LEVEL=note,7,NOTE
//@ run: the second version adds another severity
//@ args: x
//@ expect: output
#include <fmtmsg.h>
#include <stdio.h>

int main(int argc, char **argv) {
  addseverity(9, argc > 1 && V == 2 ? "SECOND" : "FIRST");
  printf("%d\n", fmtmsg(MM_PRINT, "lib:part", MM_ERROR, "text", "do it", "lib:part:1"));
  printf("%d\n", fmtmsg(MM_PRINT, "lib:part", 9, "text", NULL, NULL));
  printf("%d\n", fmtmsg(MM_PRINT, MM_NULLLBL, 7, "text", NULL, NULL));
  printf("%d\n", fmtmsg(MM_PRINT, "nolabel", MM_INFO, "text", NULL, NULL));
  return 0;
}
