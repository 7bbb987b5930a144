; fibonacci: the n-th Fibonacci number, in a loop
; run: 0 -> 0
; run: 1 -> 1
; run: 10 -> 55
; run: 90 -> 2880067194370816120
    push 0
    push 1
    pusharg             ; a b n
loop:
    pick 0
    push 0
    le
    br_cond done
    roll 3              ; b n a
    pick 2
    add                 ; b n a+b
    swap
    push 1
    sub                 ; b a+b n-1
    push 1
    br_cond loop
done:
    pop
    pop
    return
