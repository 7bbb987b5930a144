    push 1
    br_cond L93
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
    pick 1
    pick 2
    pick 3
    swap
    div
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
    swap
    div
    swap
    div
    put 2
    pusharg
    push 1
    sub
    call L4
    add
    return
L53:
    push 0
    pusharg
    lt
    br_cond L61
    pusharg
    return
L61:
    push -3
    pick 0
    pick 1
    push 2
L69:
    pusharg
    push 0
    add
    swap
    push 1
    sub
    pick 0
    br_cond L69
    pop
    add
    put 2
    pusharg
    push 1
    sub
    call L53
    add
    return
L93:
    push -3
    push 7
L97:
    push 0
    call L4
    put 1
    push 1
    sub
    pick 0
    br_cond L97
    pop
    push 1
    br_cond L115
L115:
