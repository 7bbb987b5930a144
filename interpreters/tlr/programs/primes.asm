; primes: how many primes there are below n, by trial division
; run: 2 -> 0
; run: 10 -> 4
; run: 100 -> 25
; run: 1000 -> 168
    allocate 5
    mov_a_r 0           ; n; the count is register 1
    set_a 2
    mov_a_r 2           ; k
next:
    mov_r_a 2
    less_a_r 0
    jump_if_a candidate
    mov_r_a 1
    return_a
candidate:
    set_a 2
    mov_a_r 3           ; d
try:
    mov_r_a 3
    mul_r_to_a 3
    mov_a_r 4
    mov_r_a 2
    less_a_r 4
    jump_if_a prime     ; k < d * d
    mov_r_a 2
    div_a_by_r 3
    mul_r_to_a 3
    equal_a_r 2
    jump_if_a composite ; k / d * d = k
    set_a 1
    add_r_to_a 3
    mov_a_r 3
    jump_if_a try
prime:
    set_a 1
    add_r_to_a 1
    mov_a_r 1
composite:
    set_a 1
    add_r_to_a 2
    mov_a_r 2
    jump_if_a next
