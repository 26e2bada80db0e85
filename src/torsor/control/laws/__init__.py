"""Control laws, one file each: small pure functions of a state, references and gains."""
