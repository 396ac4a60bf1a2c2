"""`ghost upgrade`: a newer wheel of an index, checked, and installed by what installed this one."""
