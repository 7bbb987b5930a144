; square: n * n
; run: 7 -> 49
; run: -12 -> 144
    pusharg
    pick 0
    mul
    return
