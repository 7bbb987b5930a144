    push 1
    br_cond L65
L4:
    push 0
    pusharg
    lt
    br_cond L12
    pusharg
    return
L12:
    push -3
    pick 0
    push 1
    pick 2
    pick 3
    lt
    pick 3
    pick 4
    lt
    add
    push 8
    mul
    br_cond_stk
    pick 1
    put 1
    push 1
    br_cond L57
    pick 1
    put 1
    push 1
    br_cond L57
    pusharg
    put 1
    nop
    push 1
    br_cond L57
L57:
    pusharg
    push 2
    sub
    call L4
    add
    return
L65:
    push -3
    pick 0
    pick 1
    put 1
    push 8
L75:
    push 3
L77:
    pusharg
    pusharg
    swap
    div
    push 0
    call L4
    swap
    div
    pick 4
    pick 5
    swap
    div
    pick 5
    pick 6
    roll -2
    add
    roll -2
    sub
    ne
    put 3
    push 1
    sub
    pick 0
    br_cond L77
    pop
    push 1
    sub
    pick 0
    br_cond L75
    pop
    return
