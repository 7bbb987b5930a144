; stack: n - 5, with every instruction that moves values
; run: 9 -> 4
; run: -3 -> -8
    push 1
    push 2
    push 3
    roll 3              ; 2 3 1
    roll -2             ; 2 1 3
    pusharg
    put 1               ; 2 n 3
    nop
    sub
    swap
    sub
    return
