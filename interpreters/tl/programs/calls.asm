; calls: 1*1 + 2*2 + ... + n*n, by a function that calls one for the square
; run: 0 -> 0
; run: 3 -> 14
; run: 100 -> 338350
    pusharg
    call sum
    return
sum:
    push 0
    pusharg             ; total i
again:
    pick 0
    push 0
    le
    br_cond out
    pick 0
    call square
    roll 3
    add
    swap                ; total+i*i i
    push 1
    sub
    push 1
    br_cond again
out:
    pop
    return
square:
    pusharg
    pusharg
    mul
    return
