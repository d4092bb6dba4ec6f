binary=tinyscheme
libraries="-ldl -lm"
build() {
  $CC $CFLAGS -fpic -DSUN_DL=1 -DUSE_DL=1 -DUSE_MATH=1 -DUSE_ASCII_NAMES=0 -Wl,-E scheme.c dynload.c -ldl -lm -o tinyscheme
}

# The interpreter's errors are longjmps; init.scm is read from TINYSCHEMEINIT.
samples() {
  while read -r line; do
    echo "export TINYSCHEMEINIT=$out/build/init.scm; $line"
  done <<'END'
echo '(display (let loop ((i 0) (a 1)) (if (= i 20) a (loop (+ i 1) (* a 2)))))' | tinyscheme
echo '(define (f n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))) (display (f 15)) (newline)' | tinyscheme
echo '(car 5) (display "after") (foo) (display "more")' | tinyscheme
echo '(display (call/cc (lambda (k) (for-each (lambda (x) (if (> x 2) (k x))) (list 1 2 3 4)) 0)))' | tinyscheme
echo '(define-macro (swap! a b) `(let ((t ,a)) (set! ,a ,b) (set! ,b t))) (define x 1) (define y 2) (swap! x y) (display (list x y))' | tinyscheme
echo '(display (string->list "hello")) (display (vector-ref (vector 1 2) 5))' | tinyscheme
echo '(display (catch "caught" (error "inside" 1 2)))' | tinyscheme
echo '(with-output-to-file "made" (lambda () (display "text in a file"))) (load "made")' | tinyscheme
echo '(define (g) (let ((k 0)) (lambda () (set! k (+ k 1)) k))) (define h (g)) (h) (h) (display (h)) (quit 3)' | tinyscheme
echo '(display (/ 1 3)) (display (sqrt 2)) (display (expt 2 10)) (display (exact->inexact 7))' | tinyscheme
echo '(((' | tinyscheme
tinyscheme -1 nosuch
tinyscheme -c '(display (map + (list 1 2) (list 3 4)))'
END
}

workload() {
  echo "export TINYSCHEMEINIT=$out/build/init.scm; "'tinyscheme -c "(define (f n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))) (display (f 22))"'
}
