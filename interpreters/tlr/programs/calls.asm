; calls: 1*1 + 2*2 + ... + n*n, and n*n once more: the square is called from two places
; run: 0 -> 0
; run: 3 -> 23
; run: 100 -> 348350
    allocate 6
    mov_a_r 0           ; i
    set_a 1
    neg_a
    mov_a_r 1           ; -1
    mov_r_a 0
    call 5, square
    mov_a_r 2           ; total
    call 4, sum
    return_a
sum:                    ; returns by register 4
    set_a 0
    less_a_r 0
    jump_if_a more
    mov_r_a 2
    return_to 4
more:
    mov_r_a 0
    call 5, square
    add_r_to_a 2
    mov_a_r 2
    mov_r_a 0
    add_r_to_a 1
    mov_a_r 0
    set_a 1
    jump_if_a sum
square:                 ; of a; returns by register 5
    mov_a_r 3
    mul_r_to_a 3
    return_to 5
