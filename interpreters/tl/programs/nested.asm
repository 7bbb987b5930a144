; nested: the sum of i * j for i from 1 to n and j from 1 to i
; run: 0 -> 0
; run: 3 -> 25
; run: 10 -> 1705
    push 0
    pusharg             ; total i
outer:
    pick 0
    push 0
    le
    br_cond done
    pick 0              ; total i j
inner:
    pick 0
    pick 2
    mul                 ; total i j i*j
    roll 4
    add
    roll -3             ; total+i*j i j
    push 1
    sub
    pick 0
    push 0
    gt
    br_cond inner
    pop
    push 1
    sub
    push 1
    br_cond outer
done:
    pop
    return
