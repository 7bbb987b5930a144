    allocate 24
    mov_a_r 0
    set_a 1
    neg_a
    mov_a_r 6
    set_a 1
    mov_a_r 7
    set_a 1
    jump_if_a L160
L17:
    set_a 0
    mov_a_r 0
    set_a 0
    mov_a_r 0
    mov_r_a 5
    mov_a_r 0
    mov_r_a 0
    add_r_to_a 0
    mov_a_r 1
    mov_r_a 3
    jump_if_a L43
    set_a 1
    jump_if_a L61
L43:
    set_a 3
    mov_a_r 13
L47:
    mov_rr_a 13
    add_r_to_a 0
    mov_a_rr 13
    mov_r_a 13
    add_r_to_a 6
    mov_a_r 13
    jump_if_a L47
L61:
    return_to 9
    mov_r_a 1
    mov_a_r 0
    call 9, L17
    set_a 39
    add_r_to_a 0
    jump_if_a L94
    mov_r_a 0
    add_r_to_a 0
    add_r_to_a 0
    add_r_to_a 0
    mov_a_r 0
    set_a 0
    mov_a_r 0
    set_a 1
    jump_if_a L100
L94:
    mov_r_a 0
    less_a_r 1
    mov_a_r 0
L100:
    set_a 120
    mov_a_r 8
    mov_r_a 2
    add_r_to_a 0
    add_r_to_a 0
    add_r_to_a 0
    jump_if_a L118
    set_a 128
    mov_a_r 8
L118:
    return_to 8
    set_a 0
    mov_a_r 0
    set_a 1
    jump_if_a L134
    mov_r_a 0
    add_r_to_a 0
    mov_a_r 2
L134:
    return_to 10
    set_a 0
    jump_if_a L142
    .byte 99
    .byte 0
L142:
    set_a 0
    mov_a_r 0
    set_a 0
    add_r_to_a 5
    add_r_to_a 0
    mov_a_r 0
    set_a 0
    mov_a_r 0
    return_to 11
L160:
    set_a 7
    mov_a_r 22
L164:
    set_a 178
    mov_a_r 8
    mov_r_a 3
    jump_if_a L176
    set_a 186
    mov_a_r 8
L176:
    return_to 8
    set_a 0
    mov_a_r 0
    set_a 1
    jump_if_a L196
    set_a 236
    equal_a_r 2
    add_r_to_a 0
    add_r_to_a 0
    mov_a_r 0
L196:
    mov_r_a 22
    add_r_to_a 6
    mov_a_r 22
    jump_if_a L164
    mov_r_a 0
    return_a
