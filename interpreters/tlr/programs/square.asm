; square: n * n by repeated addition, for n from 0
; run: 0 -> 0
; run: 7 -> 49
; run: 1000 -> 1000000
    jump_if_a start
    return_a
start:
    allocate 3
    mov_a_r 0           ; i = n
    mov_a_r 1           ; n
loop:
    set_a 1
    neg_a
    add_r_to_a 0
    mov_a_r 0           ; i - 1
    mov_r_a 2
    add_r_to_a 1
    mov_a_r 2           ; result + n
    mov_r_a 0
    jump_if_a loop
    mov_r_a 2
    return_a
