/* signgam, per version. */
#include "p3v_libc.h"
#include <math.h>

int SHIM(signgam);

double SHIM(lgamma)(double x) { return lgamma_r(x, &SHIM(signgam)); }
float SHIM(lgammaf)(float x) { return lgammaf_r(x, &SHIM(signgam)); }
long double SHIM(lgammal)(long double x) { return lgammal_r(x, &SHIM(signgam)); }
double SHIM(gamma)(double x) { return lgamma_r(x, &SHIM(signgam)); }
float SHIM(gammaf)(float x) { return lgammaf_r(x, &SHIM(signgam)); }
long double SHIM(gammal)(long double x) { return lgammal_r(x, &SHIM(signgam)); }
