; all_plus: x + 16 * y, the longest program there is
; run: 2 5 -> 82
; run: 0 -1 -> -16
++++ ++++
++++ ++++
