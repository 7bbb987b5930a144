; gcd: the greatest common divisor of n and 60
; run: 48 -> 12
; run: 7 -> 1
; run: 0 -> 60
    allocate 3
    mov_a_r 0           ; x = n
    set_a 60
    mov_a_r 1           ; y
loop:
    mov_r_a 1
    jump_if_a step
    mov_r_a 0
    return_a
step:
    mov_r_a 0
    div_a_by_r 1
    mul_r_to_a 1
    neg_a
    add_r_to_a 0
    mov_a_r 2           ; x mod y
    mov_r_a 1
    mov_a_r 0
    mov_r_a 2
    mov_a_r 1
    set_a 1
    jump_if_a loop
