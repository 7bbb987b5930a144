; collatz: how many steps of "halve it, or 3 n + 1 if it is odd" lead from n to 1
; run: 1 -> 0
; run: 6 -> 8
; run: 27 -> 111
    push 0
    pusharg             ; steps n
loop:
    pick 0
    push 1
    le
    br_cond done
    pick 0
    push 2
    div                 ; steps n half
    pick 0
    push 2
    mul
    pick 2
    eq
    br_cond even
    pop
    push 3
    mul
    push 1
    add
    push 1
    br_cond count
even:
    swap
    pop
count:
    swap
    push 1
    add
    swap
    push 1
    br_cond loop
done:
    pop
    return
