; primes: how many primes there are below n, by trial division
; run: 2 -> 0
; run: 10 -> 4
; run: 100 -> 25
; run: 1000 -> 168
    push 0
    push 2              ; count k
next:
    pick 0
    pusharg
    ge
    br_cond done
    push 2              ; count k d
try:
    pick 0
    pick 0
    mul
    pick 2
    gt
    br_cond prime       ; d * d > k
    pick 1
    pick 1
    div
    pick 1
    mul
    pick 2
    eq
    br_cond composite   ; k / d * d = k
    push 1
    add
    push 1
    br_cond try
prime:
    roll 3
    push 1
    add
    roll -3             ; count+1 k d
composite:
    pop
    push 1
    add
    push 1
    br_cond next
done:
    pop
    return
