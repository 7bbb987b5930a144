    push 1
    br_cond L82
L4:
    push 0
    pusharg
    lt
    br_cond L12
    pusharg
    return
L12:
    pusharg
    pick 0
    push 1
    pick 2
    pick 3
    lt
    push 8
    mul
    br_cond_stk
    pusharg
    put 1
    nop
    push 1
    br_cond L42
    pick 1
    put 1
    push 1
    br_cond L42
L42:
    pick 1
    pusharg
    mul
    pick 2
    swap
    div
    br_cond L74
    pusharg
    pusharg
    swap
    div
    pusharg
    div
    pick 2
    pick 3
    swap
    mul
    pick 3
    sub
    add
    put 1
    push 1
    br_cond L74
L74:
    pusharg
    push 1
    sub
    call L4
    add
    return
L82:
    push -3
    push 4
L86:
    push 7
L88:
    push 5
    put 2
    pick 2
    pick 3
    le
    call L4
    pick 3
    pick 4
    swap
    div
    swap
    div
    pick 3
    pick 4
    swap
    div
    pick 4
    pick 5
    swap
    div
    swap
    div
    swap
    div
    put 2
    push 1
    sub
    pick 0
    br_cond L88
    pop
    push 1
    sub
    pick 0
    br_cond L86
    pop
    push 1
    br_cond L145
L145:
