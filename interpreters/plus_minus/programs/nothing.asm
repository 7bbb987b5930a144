; nothing: the empty program, which leaves x
; run: 7 3 -> 7
