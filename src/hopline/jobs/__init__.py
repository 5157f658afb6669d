"""One function per thing a user wants done; what notebooks call. Jobs compose the verbs."""
