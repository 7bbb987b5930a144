    push 1
    br_cond L58
L4:
    push -3
    pick 0
    pick 1
    swap
    div
    put 0
    push -3
    put 0
    pick 0
    pick 1
    swap
    div
    pick 1
    pick 2
    swap
    div
    swap
    div
    br_cond L38
    push 1
    br_cond L57
L38:
    push 3
L40:
    pusharg
    push 27
    add
    swap
    push 1
    sub
    pick 0
    br_cond L40
    pop
    add
    add
    put 0
L57:
    return
L58:
    push -3
    pick 0
    push 8
L64:
    push 0
    call L4
    pick 3
    swap
    div
    put 2
    push 11
L76:
    pick 3
    put 3
    push 1
    sub
    pick 0
    br_cond L76
    pop
    push 1
    sub
    pick 0
    br_cond L64
    pop
    push 1
    br_cond L100
L100:
