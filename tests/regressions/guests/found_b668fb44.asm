    push 1
    br_cond L66
L4:
    push -3
    pick 0
    pick 1
    pick 2
    swap
    div
    pusharg
    pusharg
    div
    swap
    div
    br_cond L25
    push 1
    br_cond L43
L25:
    push 2
L27:
    pusharg
    push 0
    add
    swap
    push 1
    sub
    pick 0
    br_cond L27
    pop
    add
    put 1
L43:
    pick 1
    put 1
    pick 1
    put 1
    push 12
L53:
    pick 2
    put 2
    push 1
    sub
    pick 0
    br_cond L53
    pop
    return
L66:
    push 2
    pick 0
    put 0
    push 12
L74:
    push 4
    call L4
    put 1
    pick 1
    put 1
    push 1
    sub
    pick 0
    br_cond L74
    pop
    push 1
    br_cond L96
L96:
