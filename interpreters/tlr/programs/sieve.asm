; sieve: how many primes there are below n, for n to 100, with registers as an array
; run: 2 -> 0
; run: 10 -> 4
; run: 100 -> 25
; run: 101 -> trap: index out of bounds: the len is 110 but the index is 110
    allocate 110        ; register 10 + k is 1 if k is composite
    mov_a_r 0           ; n; the count is register 1
    set_a 10
    mov_a_r 5
    set_a 2
    mov_a_r 2           ; k
next:
    mov_r_a 2
    less_a_r 0
    jump_if_a test
    mov_r_a 1
    return_a
test:
    mov_r_a 2
    add_r_to_a 5
    mov_a_r 4
    mov_rr_a 4
    jump_if_a skip
    set_a 1
    add_r_to_a 1
    mov_a_r 1
    mov_r_a 2
    mov_a_r 3           ; j = k
mark:
    mov_r_a 3
    add_r_to_a 2
    mov_a_r 3           ; j + k
    less_a_r 0
    jump_if_a strike
    set_a 1
    jump_if_a skip
strike:
    mov_r_a 3
    add_r_to_a 5
    mov_a_r 4
    set_a 1
    mov_a_rr 4
    jump_if_a mark
skip:
    set_a 1
    add_r_to_a 2
    mov_a_r 2
    jump_if_a next
