; factorial: 1 * 2 * ... * n, modulo 2 to the 64th
; run: 5 -> 120
; run: 0 -> 1
; run: 20 -> 2432902008176640000
; run: 25 -> 7034535277573963776
    allocate 3
    mov_a_r 0           ; n
    set_a 1
    mov_a_r 1           ; product
    neg_a
    mov_a_r 2           ; -1
loop:
    set_a 1
    less_a_r 0
    jump_if_a more
    mov_r_a 1
    return_a
more:
    mov_r_a 1
    mul_r_to_a 0
    mov_a_r 1
    mov_r_a 2
    add_r_to_a 0
    mov_a_r 0
    set_a 1
    jump_if_a loop
