/* signgam, per version. */
#include "p3v_libc.h"
#include <math.h>

int SHIM(signgam);
extern int SHIM(__signgam) __attribute__((alias("p3_shim_signgam")));

double SHIM(lgamma)(double x) { return lgamma_r(x, &SHIM(signgam)); }
float SHIM(lgammaf)(float x) { return lgammaf_r(x, &SHIM(signgam)); }
long double SHIM(lgammal)(long double x) { return lgammal_r(x, &SHIM(signgam)); }
double SHIM(gamma)(double x) { return lgamma_r(x, &SHIM(signgam)); }
float SHIM(gammaf)(float x) { return lgammaf_r(x, &SHIM(signgam)); }
long double SHIM(gammal)(long double x) { return lgammal_r(x, &SHIM(signgam)); }
