// The entry function that --entry names does not exist.
//@ merge: --entry start
//@ cflags: -Dstart=main
//@ levels: -O1
//@ merge-error: 2 start
int start(void) { return V; }
