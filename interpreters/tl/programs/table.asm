; table: the n-th of three numbers, by a jump whose distance is computed
; run: 0 -> 10
; run: 1 -> 20
; run: 2 -> 30
    push 1
    pusharg
    push 3
    mul                 ; an entry is three bytes
    br_cond_stk
    push 10
    return
    push 20
    return
    push 30
    return
