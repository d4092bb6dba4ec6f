// Versions simplified as by -O1 before they are merged: loops, code moved out of them, and an end from their midst.
//@ merge: --prepare O1
//@ args: 6 7
//@ stdin: pipe "one two three\nfour five\n"
//@ run: output differs
//@ expect: output
//@ run: ended in the loop
//@ args: 6 stop
//@ expect: both
//@ run: equal
//@ args: 0 0
#include "prepare_none.c"
