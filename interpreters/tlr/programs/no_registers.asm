; no_registers: writes a register that nobody allocated
; run: 1 -> trap: index out of bounds: the len is 0 but the index is 0
    mov_a_r 0
    return_a
