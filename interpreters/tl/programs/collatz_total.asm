; collatz_total: the steps of "halve it, or 3 k + 1 if it is odd" that lead to 1, for all k from 1 to n together
; run: 1 -> 0
; run: 10 -> 67
; run: 1000 -> 59542
    push 0
    pusharg             ; steps k
outer:
    pick 0
    push 0
    le
    br_cond done
    pick 0              ; steps k m
loop:
    pick 0
    push 1
    le
    br_cond out
    pick 0
    push 2
    div                 ; steps k m half
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
    roll 3
    push 1
    add
    roll -3
    push 1
    br_cond loop
out:
    pop
    push 1
    sub
    push 1
    br_cond outer
done:
    pop
    return
