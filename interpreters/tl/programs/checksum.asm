; checksum: h = 31 h + i * j, modulo 2 to the 64th, for i from n down to 1 and j from i down to 1
; run: 0 -> 0
; run: 3 -> 263296765
; run: 1000 -> 1825421402862158322
    push 0
    pusharg             ; h i
outer:
    pick 0
    push 0
    le
    br_cond done
    pick 0              ; h i j
inner:
    roll 3
    push 31
    mul                 ; i j 31*h
    pick 2
    pick 2
    mul
    add
    roll -3             ; 31*h+i*j i j
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
