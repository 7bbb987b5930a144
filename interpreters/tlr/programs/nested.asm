; nested: the sum of i * j for i from 1 to n and j from 1 to i
; run: 0 -> 0
; run: 3 -> 25
; run: 10 -> 1705
    allocate 4
    mov_a_r 0           ; i; j is register 1, the total register 2
    set_a 1
    neg_a
    mov_a_r 3           ; -1
outer:
    set_a 0
    less_a_r 0
    jump_if_a row
    mov_r_a 2
    return_a
row:
    mov_r_a 0
    mov_a_r 1
inner:
    mov_r_a 0
    mul_r_to_a 1
    add_r_to_a 2
    mov_a_r 2
    mov_r_a 1
    add_r_to_a 3
    mov_a_r 1
    jump_if_a inner
    mov_r_a 0
    add_r_to_a 3
    mov_a_r 0
    set_a 1
    jump_if_a outer
