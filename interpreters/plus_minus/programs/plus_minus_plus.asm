; plus_minus_plus: x + y - y + y
; run: 32 10 -> 42
; run: -1 1 -> 0
+ - +
