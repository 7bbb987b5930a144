; fibonacci: the n-th Fibonacci number
; run: 0 -> 0
; run: 1 -> 1
; run: 10 -> 55
; run: 90 -> 2880067194370816120
    allocate 5
    mov_a_r 0           ; n
    set_a 1
    mov_a_r 2           ; b; a is register 1
    neg_a
    mov_a_r 4           ; -1
loop:
    set_a 0
    less_a_r 0
    jump_if_a more
    mov_r_a 1
    return_a
more:
    mov_r_a 1
    add_r_to_a 2
    mov_a_r 3
    mov_r_a 2
    mov_a_r 1
    mov_r_a 3
    mov_a_r 2
    mov_r_a 4
    add_r_to_a 0
    mov_a_r 0
    set_a 1
    jump_if_a loop
