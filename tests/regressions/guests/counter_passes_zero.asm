    push 1
    br_cond L68
L4:
    pusharg
    push 8
    pick 1
    push 6
L13:
    push 9
L15:
    pusharg
    br_cond L22
    push 1
    br_cond L34
L22:
    pusharg
    put 4
    push -3
    push -2
    roll 2
    eq
    put 2
L34:
    push 1
    pick 3
    pusharg
    ge
    pick 6
    pick 6
    sub
    swap
    mul
    sub
    put 4
    push 1
    sub
    pick 0
    br_cond L15
    pop
    push 1
    sub
    pick 0
    br_cond L13
    return
L68:
    push 2
    pusharg
    pick 0
    pusharg
    pick 3
    le
    call L4
L86:
L121: