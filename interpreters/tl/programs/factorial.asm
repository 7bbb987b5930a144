; factorial: 1 * 2 * ... * n, modulo 2 to the 64th
; run: 5 -> 120
; run: 0 -> 1
; run: 20 -> 2432902008176640000
; run: 25 -> 7034535277573963776
    push 1
    pusharg             ; product n
loop:
    pick 0
    push 1
    le
    br_cond done
    swap
    pick 1
    mul                 ; n product*n
    swap
    push 1
    sub
    push 1
    br_cond loop
done:
    pop
    return
