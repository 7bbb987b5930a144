; fib_recursive: the n-th Fibonacci number, by a function that calls itself twice
; run: 0 -> 0
; run: 1 -> 1
; run: 15 -> 610
    pusharg
    call fib
    return
fib:
    pusharg
    push 2
    lt
    br_cond base
    pusharg
    push 1
    sub
    call fib
    pusharg
    push 2
    sub
    call fib
    add
    return
base:
    pusharg
    return
