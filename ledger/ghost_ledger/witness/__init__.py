"""Both ends of a witness (C2SP tlog-witness): who cosigns heads of a log, and who asks for it."""
