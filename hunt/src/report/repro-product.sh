product=$(usable "${1:-$programs/places}") || exit 2
export P3_SHOW=none P3_ON_DIVERGENCE=count
run product "$product" 2> "$work/shell"
# A check that fails says so, and aborts.
! grep '^p3: ' "$work/product.stderr"
