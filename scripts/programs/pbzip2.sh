# A program with threads, in C++, with the native libbz2.
libraries="-lbz2 -lpthread -lstdc++"
build() { $CXX $CFLAGS -std=gnu++98 -D_FILE_OFFSET_BITS=64 pbzip2.cpp BZ2StreamScanner.cpp ErrorContext.cpp -o pbzip2 -lbz2 -lpthread; }

samples() {
  cat <<'END'
pbzip2 -p2 -c text
pbzip2 -p2 -b1 -c binary
pbzip2 -p3 -1 -b1 -c <zeros
pbzip2 -p1 -c text
pbzip2 -p2 -c text | pbzip2 -p2 -dc
pbzip2 -p2 -c text >x; pbzip2 -p2 -t x
pbzip2 -dc nosuch
pbzip2 -dc text
pbzip2 -V
pbzip2 -h
END
}

workload() { echo 'pbzip2 -p2 -b2 -c $INPUTS/large >out; pbzip2 -p2 -dc out'; }
