; off_the_tape: writes a letter and then uses a cell before the first one
++++++++[>++++++++<-]>+.<<+.
