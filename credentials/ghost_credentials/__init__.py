"""References to secrets, the ways to put them on the wire, and the one scrubber."""
