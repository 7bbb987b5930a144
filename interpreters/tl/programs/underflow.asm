; underflow: 7, or an addition without operands if n is 0
; run: 1 -> 7
; run: 0 -> trap: stack underflow
    pusharg
    br_cond fine
    push 1
    add
    return
fine:
    push 7
    return
